"""The thread by which a queue between processes sends its items, where it can't go on."""

from __future__ import annotations

from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall, Wait


def feeder_at_full_pipe(stall: Stall, stacks: Stacks) -> Wait | None:
    """The wait of a queue's sending thread for room in its pipe, on the way of a stall."""
    for wait in (*stall.cycle, *reversed(stall.passed)):
        stack = stacks.get(wait.tid)
        if wait.kind is Kind.PIPE_WRITE and stack is not None and stack.find("multiprocessing/queues.py", "_feed"):
            return wait
    return None
