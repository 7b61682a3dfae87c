"""What threads wait on: the events, barriers, queues, threads and processes behind the waits of Python's own modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from unstall.evidence.locks import Lock
from unstall.evidence.objects import Object
from unstall.evidence.threads import Thread
from unstall.probes import coroutines
from unstall.probes.enders import is_starting, may_end
from unstall.probes.python.frames import Interpreter
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledFrame, SampledStack
from unstall.probes.semaphores import native_id

_INNER_FRAMES = 8
_MEMORYVIEW_BUFFER = 56  # where a memoryview keeps the address of its memory
_ENDS = {  # what ends a wait: methods that another thread calls
    "event": {"set"},
    "condition": {"notify", "notify_all", "notifyAll"},
    "barrier": {"wait", "abort", "reset"},
    "queue-join": {"task_done"},
    "future": {"set_result", "set_exception", "cancel"},
    "coroutine": {"call_soon_threadsafe", "run_coroutine_threadsafe", "set_result", "set_exception", "cancel"},
}
_SORTS = (  # innermost first: an event is a condition inside, and a barrier, too
    ("importlib._bootstrap>", "_ModuleLock.acquire", "import"),
    ("/threading.py", "Thread.join", "thread"),
    ("/threading.py", "_shutdown", "threads-at-exit"),
    ("/threading.py", "Event.wait", "event"),
    ("/threading.py", "Barrier.wait", "barrier"),
    ("multiprocessing/synchronize.py", "Event.wait", "event"),
    ("multiprocessing/queues.py", "JoinableQueue.join", "queue-join"),
    ("multiprocessing/popen_fork.py", "Popen.poll", "process"),
    ("multiprocessing/popen_fork.py", "Popen.wait", "process"),
    ("multiprocessing/popen_forkserver.py", "Popen.poll", "process"),
    ("/queue.py", "Queue.join", "queue-join"),
    ("concurrent/futures/_base.py", "Future.result", "future"),
    ("concurrent/futures/_base.py", "Future.exception", "future"),
    ("concurrent/futures/_base.py", "wait", "future"),
    ("concurrent/futures/_base.py", "as_completed", "future"),
    ("/threading.py", "Semaphore.acquire", ""),  # a lock
    ("/queue.py", "Queue.get", "queue-get"),
    ("/queue.py", "Queue.put", ""),
    ("multiprocessing/pool.py", "ApplyResult.wait", ""),
    ("/threading.py", "Condition.wait", "condition"),
    ("multiprocessing/synchronize.py", "Condition.wait", "condition"),
)
_LABELS = {
    "import": "an import that another thread has begun",
    "thread": "a thread to end",
    "threads-at-exit": "the threads of the program that are no daemons to end",
    "event": "an event to be set",
    "barrier": "the others at a barrier",
    "process": "a child process to end",
    "queue-join": "all items of a queue to be done",
    "queue-get": "an item from a queue",
    "future": "the result of a future",
    "condition": "a condition",
    "coroutine": "something that a coroutine awaits",
}


@dataclass(frozen=True)
class ObjectProbe:
    """Finds what the threads of several processes wait on."""

    interpreters: dict[int, Interpreter]
    stacks: dict[int, SampledStack]
    alive: frozenset[int]  # threads; one that has ended may have left a stack
    is_user_code: Callable[[int, str], bool]

    def collect(self, blocked: list[Thread], locks: list[Lock]) -> Iterator[Object]:
        """The objects of these threads."""
        shared = {tid: lock for lock in locks for tid in lock.waiters if lock.sort == "process-condition"}
        for thread in blocked:
            stack = self.stacks.get(thread.tid)
            interpreter = self.interpreters.get(thread.pid)
            if stack is None or interpreter is None:
                continue
            try:
                found = self._found(thread, stack, interpreter)
            except Unreadable:
                continue
            if found is not None:
                yield self._with_enders(found, shared.get(thread.tid))

    def _found(self, thread: Thread, stack: SampledStack, interpreter: Interpreter) -> Object | None:
        if stack.find("asyncio/base_events.py", "_run_once"):
            places = tuple(coroutines.places(stack, interpreter, self.is_user_code))
            made = Object(stack.pid, stack.tid, "coroutine", _LABELS["coroutine"], places=places)
            return msgspec.structs.replace(made, watches=coroutines.watches(thread))
        sort, frame = _sort_of(stack)
        if not sort or frame is None:
            return None
        made = Object(stack.pid, stack.tid, sort, _LABELS[sort])
        return _described(made, frame, interpreter)

    def _with_enders(self, one: Object, shared: Lock | None) -> Object:
        names = _ENDS.get(one.sort)
        if names is None:
            return one
        pids = shared.sharers if shared is not None else (one.pid,)
        others = [other for other in self.stacks.values() if other.tid in self.alive and other.tid != one.tid]
        found = [other.tid for other in others if other.pid in pids and may_end(other, names)]
        found += [other.tid for other in others if shared is not None and is_starting(other)]
        identity = shared.id if shared is not None else one.id
        return msgspec.structs.replace(one, id=identity, enders=tuple(dict.fromkeys(found)), searched=True)


def _sort_of(stack: SampledStack) -> tuple[str, SampledFrame | None]:
    """What the innermost frames of Python's own modules wait for: the outermost of them that is known."""
    found: tuple[str, SampledFrame | None] = "", None
    for frame in stack.frames[:_INNER_FRAMES]:
        if frame.user:
            break
        for file_end, name, sort in _SORTS:
            if frame.function == name and frame.file.endswith(file_end):
                if found[0] in ("thread", "process"):
                    return found  # whose end it is says more than why it is waited for
                found = sort, frame
    return found


def _described(one: Object, frame: SampledFrame, interpreter: Interpreter) -> Object:
    """An object with what it says about itself."""
    me = frame.ref("self")
    identity = f"{one.sort.partition('-')[0]}:{one.pid}/{me.address:x}" if me is not None else ""
    made = msgspec.structs.replace(one, id=identity)
    if one.sort == "threads-at-exit":
        return msgspec.structs.replace(made, threads=tuple(_remaining(frame, interpreter)))
    if me is None:
        return made
    if one.sort == "thread":
        tid = _number(me, "_native_id")
        return msgspec.structs.replace(made, threads=(tid,) if tid else ())
    if one.sort == "import":
        return _import(made, me, interpreter)
    if one.sort == "process":
        return msgspec.structs.replace(made, child=_number(me, "pid"))
    if one.sort == "barrier":
        return msgspec.structs.replace(made, parties=_number(me, "_parties"), arrived=_arrived(me))
    if one.sort == "queue-join":
        return msgspec.structs.replace(made, unfinished=_number(me, "unfinished_tasks"))
    return made


def _import(one: Object, lock: Ref, interpreter: Interpreter) -> Object:
    """An import that waits for another one of the same module, and the thread that began that one."""
    owner, name = _number(lock, "owner"), lock.attribute("name")
    text = name.value() if name is not None else None
    label = f"the import of `{text}`, which another thread has begun" if isinstance(text, str) else one.label
    tid = native_id(interpreter, owner) if owner else None
    return msgspec.structs.replace(one, label=label, threads=(tid,) if tid else (), searched=owner is not None)


def _number(ref: Ref, name: str) -> int | None:
    found = ref.attribute(name)
    value = found.value() if found is not None else None
    return value if isinstance(value, int) else None


def _arrived(barrier: Ref) -> int | None:
    """How many have come to a barrier. One between processes counts them in shared memory, as its second number."""
    numbers = barrier.attribute("_array")
    if numbers is None or not numbers.kind.is_builtin("memoryview"):
        return _number(barrier, "_count")
    return numbers.memory.i32(numbers.memory.u64(numbers.address + _MEMORYVIEW_BUFFER) + 4)


def _remaining(frame: SampledFrame, interpreter: Interpreter) -> Iterator[int]:
    """The living threads that are no daemons, the main thread left out: the interpreter waits for each of them."""
    active = frame.ref("_active")
    for one in active.values() if active is not None else ():
        daemon, tid = one.attribute("_daemonic"), _number(one, "_native_id")
        alive = not _number(one, "_is_stopped")
        if daemon is not None and not daemon.value() and tid and alive and tid != interpreter.pid:
            yield tid
