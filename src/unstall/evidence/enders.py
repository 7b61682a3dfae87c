"""Who could still end a wait on an object of Python's own modules."""

from __future__ import annotations

from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.objects import Objects
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Stall

_OWN = (
    ("multiprocessing/queues.py", "_feed"),
    ("multiprocessing/resource_sharer.py", "_serve"),
    ("torch/utils/data/_utils/pin_memory.py", "_pin_memory_loop"),
)


def nobody_else(stall: Stall, objects: Objects, stacks: Stacks) -> bool:
    """Whether nobody could end a wait but those who wait for it themselves.

    A library's thread on the way may wait for others, too: of such a one it is not known.
    """
    one = stall.wait.object
    if one is None or not one.searched:
        return False
    chain = {wait.tid for wait in (*stall.passed, *stall.cycle)} - {stall.wait.tid}
    if any(_is_library(stacks.get(tid)) for tid in chain & set(one.enders)):
        return False
    return not set(one.enders) - chain - {stall.wait.tid} - set(objects.waiting_with(one))


def calls_any(stack: Stack, code: Code, names: set[str]) -> bool:
    """Whether a thread's code, or what that calls, calls something of these names; also where it is not known."""
    for frame in stack.user_frames():
        tree = code.tree(frame)
        if tree is None:
            return True
        called = {syntax.called_name(one) for one in syntax.calls(tree)}
        inner = [one.tree for one in code.all if one.name in called]
        called |= {syntax.called_name(call) for one in inner for call in syntax.calls(one)}
        if called & names:
            return True
    return False


def _is_library(stack: Stack | None) -> bool:
    return stack is None or not any(stack.user_frames())


def lost_in_fork(stall: Stall, processes: Processes, stacks: Stacks) -> bool:
    """Whether the process was forked from one with threads of its own: one of those may be what is missing."""
    parent = processes.forked_from(stall.process.pid)
    others = [one for one in stacks.of(parent.pid) if not one.main] if parent is not None else []
    return any(one.frames and not any(one.find(*own) for own in _OWN) for one in others)
