"""Locks inside one process: threading.Lock, RLock and Semaphore, and mutexes of C code."""

from __future__ import annotations

import msgspec

from unstall.evidence.locks import Holder, Lock
from unstall.evidence.threads import Thread
from unstall.probes import procfs
from unstall.probes.lockholders import holders_on, identities, name_of
from unstall.probes.python.frames import Interpreter
from unstall.probes.python.memory import ProcessMemory, Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledStack
from unstall.probes.semaphores import find_pointer, heap_regions, native_id

_MUTEX_LOCKED_WITH_WAITERS = 2
_SIMPLE_QUEUES = ("_queue.SimpleQueue", "queue.SimpleQueue")
_NOT_LOCKS = {  # functions that sleep on a private lock of their own, for something else than a lock
    "threading.py": {"wait", "_wait_for_tstate_lock", "join", "_shutdown"},
    "queue.py": {"get", "put", "join"},
}


class Mutexes:
    """Finds the thread locks that threads of several processes wait for."""

    def __init__(self, interpreters: dict[int, Interpreter], stacks: dict[int, SampledStack]) -> None:
        self.interpreters = interpreters
        self.stacks = stacks

    def collect(self, blocked: list[Thread]) -> list[Lock]:
        """The locks of these threads."""
        locks: dict[str, Lock] = {}
        for thread in blocked:
            lock = self._lock_of(thread)
            if lock is None:
                continue
            known = locks.get(lock.id)
            waiters = (*(known.waiters if known else ()), thread.tid)
            locks[lock.id] = msgspec.structs.replace(known or lock, waiters=waiters)
        return list(locks.values())

    def _lock_of(self, thread: Thread) -> Lock | None:
        interpreter = self.interpreters.get(thread.pid)
        if interpreter is None or thread.last.syscall != "futex":
            return None
        stack = self.stacks.get(thread.tid)
        top = stack.frames[0] if stack and stack.frames else None
        address = thread.last.arguments[0]
        try:
            if top is not None and top.file.endswith("threading.py") and top.bare_name == "wait":
                return self._semaphore(thread, stack) if stack else None
            if top is not None and top.bare_name in _NOT_LOCKS.get(top.file.rsplit("/", 1)[-1], ()):
                return None
            owned = self._pthread_mutex(thread, interpreter, address)
            if owned is not None:
                return owned
            named = self._named(address, stack)
            places = [] if named else list(find_pointer(interpreter.memory, address))
            ref = named or self._object_at(interpreter, address, places)
            if ref is None:
                return self._native_lock(thread, interpreter, address, places)
            if ref.type_name in _SIMPLE_QUEUES:
                return Lock(id=f"queue:{thread.pid}/{ref.address:x}", sort="simple-queue", label="an item from a queue")
            return self._thread_lock(thread, interpreter, address, ref, stack)
        except Unreadable:
            return None

    def _named(self, address: int, stack: SampledStack | None) -> Ref | None:
        """The lock whose waiters sleep at an address, if the waiting code has a name for it."""
        text, frame = name_of(stack, {address}) if stack is not None else ("", None)
        ref = frame.ref(text) if frame else None
        return ref if ref is not None and ref.thread_lock_address() == address else None

    def _object_at(self, interpreter: Interpreter, address: int, places: list[int]) -> Ref | None:
        """The Python object, a lock or a SimpleQueue, whose waiters sleep at an address."""
        for place in places:
            ref = Ref(place - 16, interpreter.heap)
            try:
                if ref.type_name in _SIMPLE_QUEUES or ref.thread_lock_address() == address:
                    return ref
            except Unreadable:
                continue
        return None

    def _thread_lock(
        self, thread: Thread, interpreter: Interpreter, address: int, ref: Ref, stack: SampledStack | None
    ) -> Lock:
        lock = {address, ref.address}
        state = ref.rlock()
        text, _ = name_of(stack, lock) if stack is not None else ("", None)
        parent = self._same_lock_in_parent(thread.pid, ref, address)
        holders = self._holders_in(thread.pid, lock)
        owner_is_gone = False
        if state is not None and state.owner:
            owner = native_id(interpreter, state.owner)
            inside = [one for one in holders if one.tid == owner]
            owner_is_gone = owner is None
            holders = inside or ([Holder(thread.pid, owner, state.count)] if owner else [])
            holders = [
                msgspec.structs.replace(one, count=state.count, source="RLock owner", exact=True) for one in holders
            ]
        return Lock(
            id=f"lock:{thread.pid}/{ref.address:x}",
            sort="thread-rlock" if state is not None else "thread-lock",
            label=_label("RLock" if state is not None else "lock", text),
            holders=tuple(holders),
            value=0 if ref.locked else 1,
            inherited_from=parent,
            parent_holders=tuple(self._holders_in(parent, lock)) if parent else (),
            parent_locked=self._locked_in(parent, ref) if parent else None,
            owner_is_gone=owner_is_gone,
        )

    def _native_lock(self, thread: Thread, interpreter: Interpreter, address: int, places: list[int]) -> Lock | None:
        """A lock inside a C object (a BufferedWriter has one), which the same object in the parent has too."""
        stat = procfs.stat(thread.pid)
        parent = self.interpreters.get(stat.ppid) if stat else None
        if stat is None or parent is None or procfs.command(stat.ppid) != procfs.command(thread.pid):
            return None
        if not _in_heap(interpreter.memory, address) or interpreter.memory.u32(address) != 0:
            return None
        if not _in_heap(parent.memory, address) or not any(_points_to(parent.memory, one, address) for one in places):
            return None  # made after the fork
        return Lock(
            id=f"lock:{thread.pid}/{address:x}",
            sort="native-lock",
            label="a lock inside a C object",
            value=0,
            inherited_from=stat.ppid,
            parent_locked=parent.memory.u32(address) == 0,
        )

    def _semaphore(self, thread: Thread, stack: SampledStack) -> Lock | None:
        """A threading.Semaphore whose acquire() waits on its condition."""
        acquire = stack.find("threading.py", "acquire")
        ref = acquire.ref("self") if acquire else None
        if ref is None:
            return None
        value = ref.attribute("_value")
        initial = ref.attribute("_initial_value")
        lock = identities(ref) | {ref.address}
        text, _ = name_of(stack, {ref.address})
        holders = self._holders_in(thread.pid, {ref.address})
        largest = initial.value() if initial else None
        number = value.value() if value else None
        return Lock(
            id=f"lock:{thread.pid}/{min(lock):x}",
            sort="thread-semaphore",
            label=_label("semaphore", text),
            holders=tuple(holders),
            value=number if isinstance(number, int) else None,
            largest=largest if isinstance(largest, int) else None,
        )

    def _pthread_mutex(self, thread: Thread, interpreter: Interpreter, address: int) -> Lock | None:
        """A mutex of C code. Its structure names the thread that holds it."""
        arguments = thread.last.arguments
        plain_wait = arguments[1] & 0x7F == 0 and arguments[2] == _MUTEX_LOCKED_WITH_WAITERS
        if not plain_wait or not thread.library.startswith(("libc", "libpthread")):
            return None
        owner = interpreter.memory.u32(address + 8)
        here = owner in procfs.threads(thread.pid)
        parent = procfs.stat(thread.pid)
        inherited = parent.ppid if parent and not here and owner in procfs.threads(parent.ppid) else None
        source = "pthread_mutex_t.__owner"
        return Lock(
            id=f"mutex:{thread.pid}/{address:x}",
            sort="pthread-mutex",
            label=f"a mutex inside {_inner_library(thread)}",
            holders=(self._describe(thread.pid, owner, source),) if here else (),
            value=0,
            inherited_from=inherited,
            parent_holders=(self._describe(inherited, owner, source),) if inherited else (),
            owner_is_gone=not here,
        )

    def _describe(self, pid: int, tid: int, source: str) -> Holder:
        stack = self.stacks.get(tid)
        frame = stack.frames[0] if stack and stack.frames else None
        if frame is None:
            return Holder(pid, tid, source=source)
        return Holder(pid, tid, source=source, file=frame.file, line=frame.line, function=frame.function)

    def _holders_in(self, pid: int, lock: set[int]) -> list[Holder]:
        found: list[Holder] = []
        for stack in self.stacks.values():
            if stack.pid == pid:
                found.extend(holders_on(stack, lock))
        return found

    def _same_lock_in_parent(self, pid: int, ref: Ref, address: int) -> int | None:
        """The parent process, if this lock stood in its memory when the process was forked."""
        stat = procfs.stat(pid)
        interpreter = self.interpreters.get(stat.ppid) if stat else None
        if stat is None or interpreter is None:
            return None
        try:
            same = Ref(ref.address, interpreter.heap).thread_lock_address() == address
        except Unreadable:
            return None
        return stat.ppid if same else None

    def _locked_in(self, pid: int, ref: Ref) -> bool | None:
        try:
            return Ref(ref.address, self.interpreters[pid].heap).locked
        except Unreadable:
            return None


def _label(what: str, text: str) -> str:
    return f"the {what} `{text}`" if text else f"a {what}"


def _inner_library(thread: Thread) -> str:
    return next((one for one in thread.libraries if not one.startswith(("libc", "libpthread", "ld-"))), thread.library)


def _points_to(memory: ProcessMemory, place: int, address: int) -> bool:
    try:
        return memory.u64(place) == address
    except Unreadable:
        return False


def _in_heap(memory: ProcessMemory, address: int) -> bool:
    return any(one.start <= address < one.end for one in heap_regions(memory))
