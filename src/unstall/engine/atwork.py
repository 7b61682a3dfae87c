"""Whether somebody is at work on what a stall waits for: who computes, goes on, or sleeps for moments may end it."""

from __future__ import annotations

from collections.abc import Iterator

from unstall.engine.links import GraphBuilder, is_servant
from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.motion import ActiveLoop, loops_of, waiting_loop
from unstall.evidence.stacks import Stack
from unstall.evidence.stall import FINITE, Kind, Stall, Wait
from unstall.evidence.threads import Thread

SHORT_SLEEP_S = 60.0
_DEEPEST = 4
_ASKS = {"exists", "isfile", "is_file", "lexists", "isdir", "is_dir", "islink", "is_symlink"}
_SLEEPS = {"sleep", "print", "flush", "write", "info", "debug", "time"}


def who_is_at_work(builder: GraphBuilder, stall: Stall) -> Wait | None:
    """What a thread does that may end this stall's wait; None where nobody was seen who could."""
    checked = builder.reader.descriptors.checked_by(stall.wait.tid) if stall.wait.kind in FINITE else ()
    if any(one.wanted == "gone" and not one.exists and one.how in _ASKS for one in checked):
        return stall.wait  # what it waited for has just happened
    chain = {wait.tid for wait in (*stall.passed, *stall.cycle)}
    for thread, known in _candidates(builder, stall):
        if thread.tid not in chain and (found := _at_work(builder, thread, known=known)):
            return found
    return None


def _candidates(builder: GraphBuilder, stall: Stall) -> Iterator[tuple[Thread, bool]]:
    """The threads that could end a wait, and whether it is known that it depends on their process."""
    reader, wait = builder.reader, stall.wait
    pids: list[int] = []
    if wait.lock is not None and wait.kind is Kind.FILE_LOCK:
        pids = [] if stall.cycle else [one.pid for one in wait.lock.holders]
    elif wait.kind is Kind.OPEN and wait.opening is not None and wait.opening.sort == "fifo":
        yield from _anybody(builder, stall)
    elif wait.kind in (Kind.QUEUE, Kind.PIPE_READ, Kind.SOCKET_READ, Kind.EVENTS):
        on = [reader.descriptors.get(wait.pid, fd) for fd in reader.descriptors.waits.get(wait.tid, ())]
        pids = [end.pid for one in on if one is not None for end in one.writers]
        pids += [one.peer_pid for one in on if one is not None and one.peer_pid]
        if any(
            one.find("multiprocessing/managers.py", "serve_client") for pid in pids for one in reader.stacks.of(pid)
        ):
            yield from _anybody(builder, stall)
    for file in reader.descriptors.checked_by(wait.tid) if wait.kind in FINITE else ():
        if file.exists and file.wanted == "gone":
            owners = [file.pid_inside] if file.pid_inside is not None else list(file.opened_by)
            pids += [pid for pid in owners if pid is not None and pid != wait.pid]
            if not owners:
                yield from _anybody(builder, stall)
    if wait.kind is Kind.SLEEPING and stall.stack is not None and waiting_loop(stall.stack, reader.code):
        yield from _anybody(builder, stall)  # it may set the flag that the loop looks at
    for pid in dict.fromkeys(pids):
        yield from ((thread, True) for thread in reader.threads.of(pid))


def _anybody(builder: GraphBuilder, stall: Stall) -> Iterator[tuple[Thread, bool]]:
    """Where nobody's name is known: the helper processes and threads of the training, without the loader's."""
    reader = builder.reader
    workers = {pid for loader in reader.loaders.all for pid in loader.workers}
    for thread in reader.threads.all:
        process = reader.processes.get(thread.pid)
        if process is not None and not process.stranger and not (thread.pid in workers and thread.pid == thread.tid):
            yield thread, False


def _at_work(builder: GraphBuilder, thread: Thread, *, known: bool, depth: int = 0) -> Wait | None:
    """What a thread does, if it is on its way to an end."""
    wait = builder.waits.get(thread.tid)
    process = builder.reader.processes.get(thread.pid)
    if wait is None or process is None or process.dead or process.stopped or depth > _DEEPEST:
        return None
    stack = builder.reader.stacks.get(thread.tid)
    if wait.kind is Kind.CHILD:
        below = (builder.reader.threads.get(pid) for pid in builder.children_waited_for(wait))
        works = (_at_work(builder, one, known=known, depth=depth + 1) for one in below if one)
        return next((one for one in works if one), None)
    if stack is None or not stack.frames:
        if builder.reader.stacks.of(thread.pid):
            return None  # a thread of a library in a Python process
    elif (
        is_servant(stack)
        or not any(stack.user_frames())
        or _goes_in_circles(stack, builder.reader.code, thread, known=known)
    ):
        return None
    if wait.kind is Kind.RUNNING:
        return wait
    if wait.kind is Kind.SLEEPING:
        return wait if wait.limit_s is not None and wait.limit_s <= SHORT_SLEEP_S else None
    if known and stack is not None and stack.find("asyncio/base_events.py", "_run_once"):  # a coroutine's sleep
        return wait if thread.still and wait.limit_s is not None and wait.limit_s <= SHORT_SLEEP_S else None
    moves = any(frame.user and frame.moved for frame in stack.frames) if stack and stack.frames else known
    return wait if moves and not thread.still and wait.kind is not Kind.EVENTS else None


def _goes_in_circles(stack: Stack, code: Code, thread: Thread, *, known: bool) -> bool:
    """It is in a loop that nothing ends: what it does now will not come to an end.

    A server's loop has no end either, but the request that it serves has: one that was seen in a single long sleep
    between other calls is at a request.
    """
    loop = next((one for one in loops_of(stack, code) if one.endless and not one.exits), None)
    if loop is None:
        return False
    return not known or not thread.still or _only_sleeps(loop)


def _only_sleeps(loop: ActiveLoop) -> bool:
    return all(syntax.called_name(one) in _SLEEPS for one in syntax.calls(loop.node))
