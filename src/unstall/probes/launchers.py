"""Finds the process that started the ranks of a distributed training."""

from __future__ import annotations

import msgspec

from unstall.probes import processes, procfs
from unstall.probes.python.frames import Interpreter
from unstall.probes.python.memory import Unreadable
from unstall.probes.ranks import Membership, environment_of, membership

_HIGHEST = 6  # processes above a rank that are looked at


class Job(msgspec.Struct, frozen=True):
    """Which rank of which training a process is."""

    rank: Membership
    run: str

    def has(self, other: Job | None, *, sibling: bool) -> bool:
        """Whether another process is another rank of it. Only a sibling may have been given another address."""
        if other is None or other.rank.number == self.rank.number:
            return False
        same = (other.run, other.rank.world) == (self.run, self.rank.world)
        return same and (sibling or other.rank.master == self.rank.master)


def launcher_of(pid: int) -> int:
    """The nearest process above a rank that has started other ranks of the same training, too; else itself."""
    mine, here = _job(pid), pid
    for height in range(_HIGHEST if mine is not None else 0):
        found = procfs.stat(here)
        if found is None or found.ppid <= 1:
            break
        here = found.ppid
        if mine is not None and any(mine.has(_job(one), sibling=height == 0) for one in processes.descendants(here)):
            return here
    return pid


def starts_ranks(pids: list[int]) -> bool:
    """Whether some of these processes are ranks of one training."""
    jobs = [job for pid in pids if (job := _job(pid)) is not None]
    return any(one.has(other, sibling=True) for one in jobs[:1] for other in jobs)


def _job(pid: int) -> Job | None:
    """A process's environment tells, or else its memory."""
    try:
        with Interpreter(pid) as interpreter:
            found = membership(pid, interpreter, None)
    except Unreadable:
        return None
    if found is None or found.world < 2:
        return None
    return Job(found, environment_of(pid).get("TORCHELASTIC_RUN_ID", ""))
