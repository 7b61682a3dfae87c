"""How a worker died whose death ended the training. Derived from the ending."""

from __future__ import annotations

import signal as signals

import msgspec

from unstall.evidence.endings import Ending, Killed, LastBeat
from unstall.model.finding import Confidence, Fact, Location

NATIVE = {
    signals.SIGSEGV,
    signals.SIGBUS,
    signals.SIGFPE,
    signals.SIGILL,
    signals.SIGABRT,
    signals.SIGTRAP,
    signals.SIGSYS,
}


class Death(msgspec.Struct, frozen=True):
    """The end of one worker."""

    pid: int
    code: int | None  # exit code, or minus the signal; None: 0, or not known
    beat: LastBeat | None
    sender: Killed | None
    ended_with: str
    for_memory: Confidence | None  # how sure it is that the kernel killed it for want of memory

    @property
    def signal(self) -> int | None:
        """The signal that ended it."""
        return -self.code if self.code is not None and self.code < 0 else None

    @property
    def is_fault(self) -> bool:
        """The signal stands for a fault of the worker's own code: native code crashed, or gave up by abort()."""
        return self.signal in NATIVE and (self.sender is None or self.sender.pid == self.pid)

    @property
    def role(self) -> str:
        """The worker in words."""
        return f"worker {self.beat.number}" if self.beat is not None else "a worker"

    @property
    def sample(self) -> int | None:
        """The sample that it was fetching."""
        return self.beat.sample if self.beat is not None and self.beat.stage == "fetching" else None

    def facts(self) -> list[Fact]:
        """What it was at, and what became of the training."""
        found = []
        if self.beat is not None and self.beat.busy:
            at = f"fetching sample {self.sample}" if self.sample is not None else f"{self.beat.stage} a batch"
            found.append(Fact(f"it was {at}", "flight record"))
        return [*found, Fact(f"the training then ended with {self.ended_with}", "its traceback")]

    def sender_places(self) -> tuple[Location, ...]:
        """The user's lines that sent the signal, innermost first."""
        if self.sender is None:
            return ()
        role = "main" if self.sender.number is None else f"worker {self.sender.number}"
        mine = [one for one in reversed(self.sender.places) if one.user]
        return tuple(Location(one.file, one.line, one.function, self.sender.pid, role) for one in mine)


def death_of(ending: Ending) -> Death | None:
    """The death that ended the training, if one did."""
    pid, last = ending.lost_worker, ending.last_words
    if pid is None or last is None:
        return None
    code = ending.code_of(pid)
    sender = ending.killer_of(pid, -code) if code is not None and code < 0 else None
    for_memory = _for_memory(ending, pid) if code == -signals.SIGKILL and sender is None else None
    return Death(pid, code, ending.beat_of(pid), sender, last.type, for_memory)


def _for_memory(ending: Ending, pid: int) -> Confidence | None:
    """Whether the kernel killed it: its messages name the process, or it counts kills in the training's memory group.

    A count of the whole machine is less: the kill may have been another one.
    """
    resources = ending.resources
    if pid in resources.oom_killed and ending.oom_kills:
        return Confidence.CERTAIN
    if resources.group_oom_kills is not None:
        kills = [one for one in ending.exits if one.code == -signals.SIGKILL]
        sure = resources.group_oom_kills >= len(kills)
        return (Confidence.CERTAIN if sure else Confidence.LIKELY) if resources.group_oom_kills else None
    return Confidence.LIKELY if ending.oom_kills else None


def signal_name(number: int) -> str:
    """SIGKILL, say."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"
