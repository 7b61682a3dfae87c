"""The objects of Python's own modules that threads wait on, and what these say about themselves."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.evidence.stacks import Stack
from unstall.model.evidence import Evidence
from unstall.model.finding import Location


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a coroutine stands that waits."""

    file: str
    line: int
    function: str
    user: bool = False


class Object(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one thread waits on.

    `sort` is one of event, condition, barrier, queue-join, queue-get, future, coroutine, thread,
    process, import (of the same module, by `threads`), and threads-at-exit: the threads that the interpreter waits for before it ends.
    """

    pid: int
    tid: int
    sort: str
    label: str
    id: str = ""  # the same for all that wait on the same object of one process
    parties: int | None = None  # of a barrier: how many it waits for, and how many have come
    arrived: int | None = None
    unfinished: int | None = None  # items of a queue that were put and not reported as done
    threads: tuple[int, ...] = ()  # those whose end is waited for
    child: int | None = None  # the process whose end is waited for
    enders: tuple[int, ...] = ()  # threads whose code may end the wait
    searched: bool = False  # whether it was looked who could
    watches: int | None = None  # descriptors that its event loop watches, beside the one by which it wakes itself
    places: tuple[Place, ...] = ()  # where the coroutine waits, innermost first

    def where(self, role: str) -> tuple[Location, ...]:
        """The places in the user's own code where a coroutine waits."""
        return tuple(Location(one.file, one.line, one.function, self.pid, role) for one in self.places if one.user)


class Objects(Evidence, frozen=True):
    """What threads wait on, one object per thread at most."""

    kind: ClassVar[str] = "objects"

    all: tuple[Object, ...] = ()

    def of(self, tid: int) -> Object | None:
        """What a thread waits on."""
        return next((one for one in self.all if one.tid == tid), None)

    def waiting_with(self, one: Object) -> tuple[int, ...]:
        """The threads that wait on the same object."""
        return tuple(other.tid for other in self.all if other.id == one.id and other.sort == one.sort)


def exits(stack: Stack | None) -> bool:
    """Whether a Python is on its way out: its main program has ended, and it waits for what it has started."""
    for frame in stack.frames if stack is not None else ():
        if frame.user:
            return False
        if frame.calls("/threading.py", "_shutdown") or frame.calls("multiprocessing/util.py", "_exit_function"):
            return True
    return False
