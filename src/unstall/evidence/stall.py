"""A stall: one end of the chain of waits, with all that is known about it. Built by the engine."""

from __future__ import annotations

import enum
from typing import ClassVar

import msgspec

from unstall.evidence.descriptors import Descriptor, Opening
from unstall.evidence.loaders import Loader, Worker
from unstall.evidence.locks import Lock
from unstall.evidence.processes import Process
from unstall.evidence.stacks import Frame, Stack
from unstall.evidence.threads import Thread
from unstall.model.evidence import Evidence
from unstall.model.finding import Fact, Link, Location


class Kind(enum.StrEnum):
    """What a thread is doing, or waiting for."""

    RUNNING = "running"
    SLEEPING = "sleeping"
    STOPPED = "stopped"
    DISK = "disk"
    LOADER = "loader"
    HANDOVER = "handover"
    INDEX = "index"
    SHARED_LOCK = "shared-lock"
    THREAD_LOCK = "thread-lock"
    FILE_LOCK = "file-lock"
    OPEN = "open"
    PIPE_READ = "pipe-read"
    PIPE_WRITE = "pipe-write"
    SOCKET_READ = "socket-read"
    SOCKET_CONNECT = "socket-connect"
    TERMINAL = "terminal"
    CHILD = "child"
    QUEUE = "queue"
    FUTURE = "future"
    JOIN = "join"
    CONDITION = "condition"
    NATIVE = "native"
    EVENTS = "events"
    ENDED = "ended"
    UNKNOWN = "unknown"


FINITE = (Kind.RUNNING, Kind.SLEEPING)


class Wait(msgspec.Struct, frozen=True):
    """What one thread waits for."""

    kind: Kind
    pid: int
    tid: int
    text: str  # "waits for …"
    source: str
    lock: Lock | None = None
    descriptor: Descriptor | None = None
    opening: Opening | None = None
    loader: Loader | None = None
    child: int | None = None
    limit_s: float | None = None  # the kernel ends it by itself after this time


class Stall(Evidence, frozen=True):
    """The root of a chain of waits, or a cycle of them."""

    kind: ClassVar[str] = "stall"

    wait: Wait
    process: Process
    role: str
    thread: Thread | None = None
    stack: Stack | None = None
    worker: Worker | None = None
    chain: tuple[Link, ...] = ()
    cycle: tuple[Wait, ...] = ()
    main_pid: int = 0
    passed: tuple[Wait, ...] = ()  # the waits on the way here, the training loop's first

    @property
    def in_main(self) -> bool:
        """The root is in the training's main process."""
        return self.process.pid == self.main_pid

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's own code."""
        return next(self.stack.user_frames(), None) if self.stack else None

    @property
    def top(self) -> Frame | None:
        """The innermost frame."""
        return self.stack.frames[0] if self.stack and self.stack.frames else None

    @property
    def sample(self) -> int | str | None:
        """The map-style sample that it is at."""
        return self.worker.sample if self.worker and not self.worker.iterable else None

    @property
    def fetching(self) -> bool:
        """It happens while a sample or batch is made."""
        return self.worker is not None and self.worker.stage in ("fetching", "collating")

    def where(self, *first: Location) -> tuple[Location, ...]:
        """The places to look at: the ones given, then the innermost user frame, and what called it."""
        places = list(first)
        for frame in list(self.stack.user_frames() if self.stack else ())[:4]:
            place = Location(frame.file, frame.line, frame.function, self.process.pid, self.role)
            if all((place.file, place.line) != (other.file, other.line) for other in places):
                places.append(place)
        return tuple(places)

    def at(self, frame: Frame, line: int | None = None) -> Location:
        """A place in this stall's stack."""
        return Location(frame.file, line or frame.line, frame.function, self.process.pid, self.role)

    def fact(self, statement: str) -> Fact:
        """A fact whose source is the wait itself."""
        return Fact(statement, self.wait.source)
