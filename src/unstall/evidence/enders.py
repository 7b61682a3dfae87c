"""Who could still end a wait on an object of Python's own modules."""

from __future__ import annotations

from unstall.evidence.objects import Objects
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall

_OWN = (
    ("multiprocessing/queues.py", "_feed"),
    ("multiprocessing/resource_sharer.py", "_serve"),
    ("torch/utils/data/_utils/pin_memory.py", "_pin_memory_loop"),
)


def nobody_else(stall: Stall, objects: Objects) -> bool:
    """Whether nobody could end a wait but those who wait for it themselves."""
    one = stall.wait.object
    if one is None or not one.searched:
        return False
    waiting = {wait.tid for wait in (*stall.passed, *stall.cycle, stall.wait)} | set(objects.waiting_with(one))
    return not set(one.enders) - waiting


def lost_in_fork(stall: Stall, processes: Processes, stacks: Stacks) -> bool:
    """Whether the process was forked from one with threads of its own: one of those may be what is missing."""
    parent = processes.forked_from(stall.process.pid)
    others = [one for one in stacks.of(parent.pid) if not one.main] if parent is not None else []
    return any(one.frames and not any(one.find(*own) for own in _OWN) for one in others)
