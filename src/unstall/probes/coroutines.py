"""Where a coroutine waits: from the one that an event loop runs, along what each awaits, to the innermost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from unstall.evidence.objects import Place
from unstall.evidence.threads import Thread
from unstall.probes import procfs
from unstall.probes.python.frames import Interpreter
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledStack

_DEEPEST = 40
_MOST_WORDS = 64
_FUTURES = ("_asyncio.Future", "_asyncio.Task", "asyncio.tasks._GatheringFuture", "asyncio.futures.Future")


def places(stack: SampledStack, interpreter: Interpreter, is_user_code: Callable[[int, str], bool]) -> Iterator[Place]:
    """The places of the coroutine that an event loop was started for, innermost first."""
    found: list[Place] = []
    with contextlib.suppress(Unreadable):
        _follow(_first(stack), interpreter, found, set())
    for one in reversed(found):
        yield Place(one.file, one.line, one.function, is_user_code(stack.pid, one.file))


def watches(thread: Thread) -> int | None:
    """How many descriptors the event loop of a thread watches, without the one by which it wakes itself."""
    if not thread.last.syscall.startswith("epoll_") or not thread.last.arguments:
        return None
    text = procfs.read(f"/proc/{thread.pid}/fdinfo/{thread.last.arguments[0] & 0xFFFFFFFF}")
    return max(0, text.count("tfd:") - 1) if text is not None else None


def _first(stack: SampledStack) -> Ref | None:
    """The task or coroutine that `asyncio.run` was given."""
    for file_end, function, local in (
        ("asyncio/base_events.py", "run_until_complete", "future"),
        ("asyncio/runners.py", "run", "coro"),
    ):
        frame = stack.find(file_end, function)
        ref = frame.ref(local) if frame is not None else None
        if ref is not None:
            return ref
    return None


def _follow(ref: Ref | None, interpreter: Interpreter, found: list[Place], seen: set[int]) -> None:
    """Add the frame of a coroutine, and those of what it awaits."""
    if ref is None or ref.address in seen or len(seen) > _DEEPEST:
        return
    seen.add(ref.address)
    if not ref.kind.is_builtin("coroutine"):
        for inner in _inner(ref):
            before = len(found)
            _follow(inner, interpreter, found, seen)
            if len(found) > before:
                return  # of several that are awaited together, the first one that has not ended
        return
    frame = interpreter.suspended_frame(ref)
    if frame is None or frame.line is None:
        return
    found.append(Place(frame.file, frame.line, frame.function))
    for awaited in frame.value_stack():
        _follow(awaited, interpreter, found, seen)


def _inner(ref: Ref) -> Iterator[Ref]:
    """The coroutines and futures that an object of asyncio holds: they are found by their types."""
    children = ref.attribute("_children") if "Gathering" in ref.type_name else None
    if children is not None:
        yield from children.values()
        return
    size = min(ref.kind.basic_size // 8, _MOST_WORDS)
    for word in ref.memory.u64s(ref.address + 16, max(0, size - 2)):
        inner = Ref(word, ref.heap) if word else None
        try:
            if inner is not None and _may_lead_on(inner, ref):
                yield inner
        except Unreadable:
            continue


def _may_lead_on(inner: Ref, outer: Ref) -> bool:
    if outer.type_name.endswith("Task"):
        return inner.kind.is_builtin("coroutine")
    return inner.kind.is_builtin("coroutine") or inner.type_name in _FUTURES
