"""A multiprocessing.Pool on whose result a stalled training waits: who of it is still there, and at work."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from unstall.evidence.processes import Process, Processes
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Stall

POOL = "multiprocessing/pool.py"
CONNECTION = "multiprocessing/connection.py"
_PLUMBING = ("multiprocessing/queues.py", CONNECTION, "multiprocessing/synchronize.py")


class IdlePool(msgspec.Struct, frozen=True):
    """A pool in which nobody has anything to do, though somebody waits for its result."""

    workers: tuple[Process, ...]
    reads_results: bool  # its thread for that is alive

    @property
    def younger_s(self) -> float:
        """By how much its youngest process is younger than its oldest: the pool replaces what has died."""
        ages = [one.age_s for one in self.workers if one.age_s is not None]
        return max(ages) - min(ages) if ages else 0.0


def idle_pool(stall: Stall, stacks: Stacks, processes: Processes) -> IdlePool | None:
    """The pool that a stall waits for, if it has no work left and its result has not come."""
    pid = stall.process.pid
    own = list(stacks.of(pid))
    waits = any(one.find(POOL, "wait", "next") for one in own)
    tasks = next((one for one in own if one.find(POOL, "_handle_tasks")), None)
    results = next((one for one in own if one.find(POOL, "_handle_results")), None)
    if not waits or tasks is None or not _has_no_task(tasks):
        return None
    if results is not None and not results.frames[0].calls(CONNECTION, "_recv"):
        return None  # it has a result in hand, or runs a callback of the user
    workers = []
    for process in processes.children(pid):
        stack = next((one for one in stacks.of(process.pid) if one.main), None)
        if stack is None or process.dead:
            continue
        if not stack.find(POOL, "worker"):
            if "spawn_main" in process.command or stack.find("multiprocessing/spawn.py"):
                return None  # it is just starting, and may take the task
            continue
        if not _waits_for_a_task(stack):
            return None
        workers.append(process)
    return IdlePool(tuple(workers), results is not None) if workers else None


def _has_no_task(tasks: Stack) -> bool:
    """Whether the thread that hands tasks out waits for one: it neither makes them nor sends one."""
    return all(file.endswith(("/queue.py", "/threading.py")) for file in _above(tasks, "_handle_tasks"))


def _waits_for_a_task(worker: Stack) -> bool:
    """Whether nothing stands above the loop of a pool's process but asking for a task."""
    plumbing = all(file.endswith(_PLUMBING) for file in _above(worker, "worker"))
    return plumbing and worker.find("multiprocessing/queues.py", "get") is not None


def _above(stack: Stack, loop: str) -> Iterator[str]:
    for frame in stack.frames:
        if frame.file.endswith(POOL) and frame.bare_name == loop:
            return
        yield frame.file
