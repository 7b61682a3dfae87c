"""Locks of every sort, who waits for them, and who holds them."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence


class Holder(msgspec.Struct, frozen=True, omit_defaults=True):
    """Somebody who has taken a lock and not released it."""

    pid: int
    tid: int | None = None
    count: int = 1
    source: str = ""  # what says so: "SemLock.count", "/proc/locks", "RLock owner", "with block on its stack"
    exact: bool = True
    file: str = ""  # where the holder stands inside the lock, if it is still there
    line: int = 0
    function: str = ""
    dead: bool = False
    fd: int | None = None  # the descriptor through which it has a file's lock


class Lock(msgspec.Struct, frozen=True, omit_defaults=True):
    """One lock.

    `sort` is one of process-lock, process-rlock, process-semaphore, thread-lock, thread-rlock, pthread-mutex,
    native-lock, file-lock, record-lock, database-lock; and of two that nobody holds: process-condition, simple-queue.
    """

    id: str
    sort: str
    label: str
    waiters: tuple[int, ...] = ()  # thread ids
    holders: tuple[Holder, ...] = ()
    value: int | None = None
    largest: int | None = None  # the most permits that a semaphore can have, if it is bounded
    inherited_from: int | None = None  # pid of the parent at whose same address the same lock stands
    parent_holders: tuple[Holder, ...] = ()  # threads of that parent that stand inside it now
    parent_locked: bool | None = None  # whether it is locked there now
    owner_is_gone: bool = False  # the thread that it names as its owner does not exist in this process
    sharers: tuple[int, ...] = ()  # pids that have a shared condition mapped: any of them may end the wait
    releasers: tuple[int, ...] = ()  # threads whose code may release it, where nothing says who holds it
    searched: bool = True  # whether every process that can hold it could be searched
    path: str = ""
    polled: bool = False  # the waiter does not wait in the kernel: it tries again and again
    tried_at: int = 0  # the line of the loop that tries, in `tried_in`, where it is the user's own
    tried_in: str = ""


class Locks(Evidence, frozen=True):
    """Every lock that somebody waits for."""

    kind: ClassVar[str] = "locks"

    all: tuple[Lock, ...] = ()

    def held_by(self, pid: int) -> tuple[Lock, ...]:
        """The locks that a process holds while somebody waits for them."""
        return tuple(lock for lock in self.all if any(one.pid == pid for one in lock.holders))

    def waited_by(self, tid: int) -> Lock | None:
        """The lock that a thread waits for."""
        return next((lock for lock in self.all if tid in lock.waiters), None)
