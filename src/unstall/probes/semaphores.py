"""Process-shared semaphores (mp.Lock, RLock, Semaphore): their value, and which process has taken them."""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from unstall.evidence.locks import Holder, Lock
from unstall.evidence.threads import Thread
from unstall.probes.lockholders import holders_on, name_of
from unstall.probes.python.frames import Interpreter
from unstall.probes.python.locks import SemLockState
from unstall.probes.python.memory import ProcessMemory, Region, Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledStack

SEARCH_S = 1.0  # for one process
SEARCH_BYTES = 1 << 30
_SORTS = {0: "process-rlock", 1: "process-semaphore"}


@dataclass(frozen=True)
class Semaphore:
    """A mapped semaphore: the file that it is, and its place in it."""

    device: str
    inode: int
    offset: int

    @property
    def id(self) -> str:
        """The same in every process that maps it."""
        return f"semaphore:{self.device}:{self.inode}+{self.offset}"


def find(memory: ProcessMemory, address: int) -> Semaphore | None:
    """The shared semaphore at an address, if there is one."""
    try:
        regions = memory.regions()
    except Unreadable:  # the process has just ended
        return None
    for region in regions:
        if region.start <= address < region.end:
            if "/dev/shm/sem." in region.path or "/sem." in region.path:
                return Semaphore(region.device, region.inode, address - region.start + region.offset)
            return None
    return None


def collect(blocked: list[Thread], interpreters: dict[int, Interpreter], stacks: dict[int, SampledStack]) -> list[Lock]:
    """The process-shared locks that these threads wait for."""
    waiting: dict[Semaphore, list[Thread]] = {}
    for thread in blocked:
        interpreter = interpreters.get(thread.pid)
        if interpreter and thread.last.syscall == "futex":
            semaphore = find(interpreter.memory, thread.last.arguments[0])
            if semaphore:
                waiting.setdefault(semaphore, []).append(thread)
    return [_examine(semaphore, threads, interpreters, stacks) for semaphore, threads in waiting.items()]


def _examine(
    semaphore: Semaphore,
    threads: list[Thread],
    interpreters: dict[int, Interpreter],
    stacks: dict[int, SampledStack],
) -> Lock:
    value = _value(interpreters[threads[0].pid].memory, threads[0].last.arguments[0])
    holders: list[Holder] = []
    searched = True
    hints = {hint for thread in threads for hint in _hints(stacks.get(thread.tid))}
    sort, largest = "process-lock", None
    stack = stacks.get(threads[0].tid)
    if stack is not None and _is_of_condition(stack, threads[0].last.arguments[0]):
        return _condition(semaphore, threads, interpreters)
    for pid, interpreter in interpreters.items():
        try:
            address = _mapped_at(interpreter.memory, semaphore)
            if address is None:
                continue
            state = _object(interpreter, address, hints)
        except Unreadable:
            searched = False
            continue
        if state is None:
            continue
        largest = state.maxvalue
        sort = "process-lock" if state.maxvalue == 1 and state.kind == 1 else _SORTS.get(state.kind, sort)
        if state.count > 0:
            tid = native_id(interpreter, state.last_tid)
            holders.append(_holder(pid, tid, state, address, stacks))
    return Lock(
        id=semaphore.id,
        sort=sort,
        label=_label(sort, stacks.get(threads[0].tid), threads[0].last.arguments[0]),
        waiters=tuple(thread.tid for thread in threads),
        holders=tuple(holders),
        value=value,
        largest=largest if sort == "process-semaphore" and largest and largest < 1 << 30 else None,
        searched=searched and largest is not None,
    )


def _is_of_condition(stack: SampledStack, address: int) -> bool:
    """Whether a Condition, Event or Barrier counts its sleepers with this semaphore: nobody ever holds it."""
    top = stack.frames[0] if stack.frames else None
    if top is None or not top.file.endswith("multiprocessing/synchronize.py"):
        return False
    for name in ("_wait_semaphore", "_woken_count", "_sleeping_count"):
        ref = top.ref(f"self.{name}._semlock")
        state = ref.semlock() if ref is not None else None
        if state is not None and state.handle == address:
            return True
    return False


def _condition(semaphore: Semaphore, threads: list[Thread], interpreters: dict[int, Interpreter]) -> Lock:
    """What has no holder: any process that has it mapped may end the wait."""
    sharers = []
    for pid, interpreter in interpreters.items():
        with contextlib.suppress(Unreadable):
            if _mapped_at(interpreter.memory, semaphore) is not None:
                sharers.append(pid)
    return Lock(
        id=semaphore.id,
        sort="process-condition",
        label="an event or condition shared between processes",
        waiters=tuple(thread.tid for thread in threads),
        sharers=tuple(sharers),
    )


def _holder(pid: int, tid: int | None, state: SemLockState, address: int, stacks: dict[int, SampledStack]) -> Holder:
    """Who took it, and where that thread stands inside it, if it still does."""
    for stack in stacks.values():
        if stack.pid == pid:
            for inside in holders_on(stack, {address}):
                return msgspec.structs.replace(inside, count=state.count, source="SemLock.count", exact=True)
    return Holder(pid, tid, state.count, source="SemLock.count")


def _label(sort: str, stack: SampledStack | None, address: int) -> str:
    what = {"process-lock": "the shared lock", "process-rlock": "the shared RLock"}.get(sort, "the shared semaphore")
    name = name_of(stack, {address})[0] if stack else ""
    return f"{what} `{name}`" if name else what


def _value(memory: ProcessMemory, address: int) -> int | None:
    try:
        return memory.u32(address)
    except Unreadable:
        return None


def _mapped_at(memory: ProcessMemory, semaphore: Semaphore) -> int | None:
    for region in memory.regions():
        if region.inode == semaphore.inode and region.device == semaphore.device:
            return region.start + semaphore.offset - region.offset
    return None


def _object(interpreter: Interpreter, address: int, hints: set[int]) -> SemLockState | None:
    """The SemLock object of a process for the semaphore mapped at an address.

    A forked process has it where its relatives have it; else the heap is searched.
    """
    for hint in hints:
        state = _state_at(interpreter, hint, address)
        if state is not None:
            return state
    until = time.monotonic() + SEARCH_S
    for place in find_pointer(interpreter.memory, address):
        state = _state_at(interpreter, place - 16, address)
        if state is not None:
            hints.add(place - 16)
            return state
        if time.monotonic() > until:
            break
    return None


def _state_at(interpreter: Interpreter, place: int, address: int) -> SemLockState | None:
    try:
        state = Ref(place, interpreter.heap).semlock()
    except Unreadable:
        return None
    return state if state is not None and state.handle == address else None


def _hints(stack: SampledStack | None) -> set[int]:
    """Where the waiting thread's own SemLock object is."""
    enter = stack.find("multiprocessing/synchronize.py", "__enter__") if stack else None
    ref = enter.ref("self._semlock") if enter else None
    return {ref.address} if ref else set()


def find_pointer(memory: ProcessMemory, address: int) -> Iterator[int]:
    """Where in a process's heap a pointer to an address stands."""
    pattern = struct.pack("<Q", address).rstrip(b"\0")  # without the zeros the search is three times faster
    return memory.find(pattern, heap_regions(memory), SEARCH_BYTES)


def heap_regions(memory: ProcessMemory) -> list[Region]:
    """Where Python objects can be: private, writable, anonymous memory, small areas first."""
    regions = [
        one
        for one in memory.regions()
        if one.perms.startswith("rw")
        and one.perms.endswith("p")
        and (not one.path or one.path in ("[heap]",) or one.path.startswith("[anon"))
    ]
    return sorted(regions, key=lambda one: one.size)


def native_id(interpreter: Interpreter, ident: int) -> int | None:
    """The kernel id of the thread with a pthread id."""
    try:
        return next((one.native_id for one in interpreter.threads() if one.ident == ident), None)
    except Unreadable:
        return None
