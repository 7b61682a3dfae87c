"""Locks, semaphores and sockets: the C structures behind them.

These structures are private to CPython's .c files; they are the same in 3.11, 3.12 and 3.13. From 3.14 a
thread lock is a PyMutex: that is declared unknown, not guessed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .classes import Class, Heap
from .memory import Unreadable

_LOCK_SEMAPHORE, _LOCK_LOCKED = 16, 32
_RLOCK = struct.Struct("<QQQ")  # semaphore, owner, count
_SEMLOCK = struct.Struct("<QQiii")  # handle, last_tid, count, maxvalue, kind
_SOCKET_FD, _SOCKET_TIMEOUT = 16, 40


@dataclass(frozen=True, slots=True)
class RLockState:
    """A `threading.RLock`: `owner` is a thread ident, 0 if free; threads wait on the futex at `address`."""

    owner: int
    count: int
    address: int


@dataclass(frozen=True, slots=True)
class SemLockState:
    """A `multiprocessing` lock or semaphore, as this process sees it.

    `handle` is the address of the mapped sem_t. `count` is how often this process holds it; `last_tid` (a
    thread ident) is who took it last. `kind` is 0 for a recursive mutex, 1 for a semaphore.
    """

    handle: int
    last_tid: int
    count: int
    maxvalue: int
    kind: int


@dataclass(frozen=True, slots=True)
class SocketState:
    """A socket: its descriptor (-1 if closed) and timeout in nanoseconds (negative: blocks for ever)."""

    fd: int
    timeout_ns: int


def _has_known_locks(heap: Heap) -> bool:
    return heap.layout.version <= (3, 13)


def lock_address(heap: Heap, address: int, kind: Class) -> int | None:
    """The semaphore that waiters of a `_thread.lock` or `_thread.RLock` sleep on; None for other objects."""
    if not kind.lineage & {"_thread.lock", "_thread.RLock"}:
        return None
    if not _has_known_locks(heap):
        raise Unreadable("version not supported", "thread locks of this Python version")
    return heap.memory.u64(address + _LOCK_SEMAPHORE)


def lock_is_held(heap: Heap, address: int, kind: Class) -> bool | None:
    """Whether a thread lock is held; None for other objects."""
    if "_thread.RLock" in kind.lineage:
        state = rlock_state(heap, address, kind)
        return state is not None and state.count > 0
    if "_thread.lock" not in kind.lineage:
        return None
    lock_address(heap, address, kind)
    return heap.memory.u8(address + _LOCK_LOCKED) != 0


def rlock_state(heap: Heap, address: int, kind: Class) -> RLockState | None:
    """Owner, count and semaphore of an RLock; None for other objects."""
    if "_thread.RLock" not in kind.lineage:
        return None
    lock_address(heap, address, kind)
    semaphore, owner, count = _RLOCK.unpack(heap.memory.read(address + 16, _RLOCK.size))
    return RLockState(owner if count else 0, count, semaphore)


def semlock_state(heap: Heap, address: int, kind: Class) -> SemLockState | None:
    """The state of a `multiprocessing` semaphore; None for other objects."""
    if "_multiprocessing.SemLock" not in kind.lineage:
        return None
    return SemLockState(*_SEMLOCK.unpack(heap.memory.read(address + 16, _SEMLOCK.size)))


def socket_state(heap: Heap, address: int, kind: Class) -> SocketState | None:
    """Descriptor and timeout of a socket; None for other objects."""
    if not kind.lineage & {"_socket.socket", "socket.socket"}:
        return None
    return SocketState(heap.memory.i32(address + _SOCKET_FD), heap.memory.i64(address + _SOCKET_TIMEOUT))
