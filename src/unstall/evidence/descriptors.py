"""What a blocked thread's file descriptor is, and who is at its other end."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence


class End(msgspec.Struct, frozen=True):
    """A process that has one end of a pipe or socket open."""

    pid: int
    fd: int


class Descriptor(msgspec.Struct, frozen=True, omit_defaults=True):
    """One open file descriptor. `sort` is pipe, fifo, socket, file, terminal, eventfd, null, closed or other."""

    pid: int
    fd: int
    sort: str
    label: str
    path: str = ""
    readers: tuple[End, ...] = ()
    writers: tuple[End, ...] = ()
    waiting_bytes: int | None = None
    capacity: int | None = None
    protocol: str = ""
    state: str = ""
    local: str = ""
    peer: str = ""
    peer_pid: int | None = None
    filesystem: str = ""


class Opening(msgspec.Struct, frozen=True):
    """A thread that is inside open()."""

    tid: int
    path: str
    sort: str  # fifo, file, missing, other
    filesystem: str = ""
    others: tuple[int, ...] = ()  # processes that have it open


class CheckedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that a loop looks at again and again."""

    tid: int
    path: str
    exists: bool
    line: int = 0
    age_s: float | None = None
    pid_inside: int | None = None  # the number in it, if it holds nothing else
    pid_alive: bool = False
    opened_by: tuple[int, ...] = ()
    wanted: str = ""  # "gone": the loop goes on until the file is not there; "there": until it is; "" where unclear
    how: str = ""  # how the loop looks: `exists`, `open`, `mkdir`
    limited: bool = False  # the loop counts its rounds or looks at a clock
    file: str = ""  # the source file of the loop, and its first line
    loop_line: int = 0
    user: bool = True  # the loop is the user's own, not an installed package's


class Descriptors(Evidence, frozen=True):
    """The descriptors that blocked threads wait on."""

    kind: ClassVar[str] = "descriptors"

    all: tuple[Descriptor, ...] = ()
    openings: tuple[Opening, ...] = ()
    checked: tuple[CheckedFile, ...] = ()
    waits: dict[int, tuple[int, ...]] = {}  # thread id → the descriptors that it is blocked on

    def get(self, pid: int, fd: int) -> Descriptor | None:
        """The descriptor with that number in that process."""
        return next((one for one in self.all if one.pid == pid and one.fd == fd), None)

    def of_thread(self, pid: int, tid: int) -> Descriptor | None:
        """The one descriptor that a thread is blocked on; of several connections the first."""
        waits = [self.get(pid, fd) for fd in self.waits.get(tid, ())]
        alike = all(one is not None and one.sort == "socket" and one.protocol != "unix" for one in waits)
        return waits[0] if waits and (len(waits) == 1 or alike) else None

    def opening(self, tid: int) -> Opening | None:
        """The file that a thread is just opening."""
        return next((one for one in self.openings if one.tid == tid), None)

    def checked_by(self, tid: int) -> tuple[CheckedFile, ...]:
        """The files that a thread's loop looks at."""
        return tuple(one for one in self.checked if one.tid == tid)
