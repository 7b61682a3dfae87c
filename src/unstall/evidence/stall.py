"""A stall: one end of the chain of waits, with all that is known about it. Built by the engine."""

from __future__ import annotations

import enum
from typing import ClassVar

import msgspec

from unstall.evidence.descriptors import Descriptor, Opening
from unstall.evidence.loaders import Loader, Worker
from unstall.evidence.locks import Lock
from unstall.evidence.objects import Object
from unstall.evidence.processes import Process
from unstall.evidence.ranks import Call
from unstall.evidence.stacks import Frame, Stack
from unstall.evidence.threads import Thread
from unstall.model.evidence import Evidence
from unstall.model.finding import Fact, Link, Location

LOADER_FILE = "torch/utils/data/dataloader.py"


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
    COLLECTIVE = "collective"
    ENDED = "ended"
    UNKNOWN = "unknown"


FINITE = (Kind.RUNNING, Kind.SLEEPING)
LONG_S = 5.5  # what may well end by itself is only accused after it has been watched for this long
BUSY_SHARE = 0.2  # of a core: with less than that, on a busy machine, all that computes takes longer
VERY_LONG_S = 12.5  # and what computes or tries again with nothing else that speaks against it, after this long


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
    object: Object | None = None
    call: Call | None = None  # of torch.distributed
    limit_s: float | None = None  # the kernel ends it by itself after this time
    renewed: bool = False  # … and the code around it waits again, without an end

    @property
    def prints(self) -> bool:
        """It waits until somebody reads what it prints."""
        return self.kind is Kind.PIPE_WRITE and self.descriptor is not None and self.descriptor.fd in (1, 2)

    @property
    def ends(self) -> bool:
        """It has a time limit after which the code goes on."""
        return self.limit_s is not None and not self.renewed


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
    watched_s: float = 0.0
    waiter: Stack | None = None  # the user's code that waits for it, where it runs none itself
    waiter_role: str = ""
    waiting_worker: Worker | None = None  # the worker that waits for it, where it is not one itself
    beyond: Wait | None = None  # what a process outside the training does, on which this wait depends
    missing: tuple[int, ...] = ()  # the ranks that have not come to the call in which this one waits
    awaited: Wait | None = None  # what somebody does who is at work, and may end this wait

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
        """The map-style sample that it is at, or that waits for it."""
        worker = self.worker or self.waiting_worker
        return worker.sample if worker and not worker.iterable else None

    @property
    def place(self) -> str:
        """Which part of the data's way it is in: collate, sampler, iterable, getitem, or main (none of these)."""
        if self.stack is not None and self.stack.find(LOADER_FILE, "_next_index", "_try_put_index"):
            return "sampler"
        if self.worker is None or self.worker.stage not in ("fetching", "collating"):
            return "main"
        if self.worker.stage == "collating":
            return "collate"
        return "iterable" if self.worker.iterable else "getitem"

    @property
    def makes_sample(self) -> bool:
        """It is at one sample: of a map-style dataset, or of an iterable one that has delivered before."""
        if self.place == "iterable" and self.worker is not None:
            return (self.worker.batch or 0) > (self.worker.number or 0)
        return self.place == "getitem"

    @property
    def doing(self) -> str:
        """What it does, as the end of a sentence."""
        text = self.wait.text
        return text.removeprefix("nothing: it ") if text.startswith("nothing: it ") else f"waits for {text}"

    @property
    def long(self) -> bool:
        """It has lasted longer than what ends by itself usually does."""
        return self._lasted_s >= LONG_S

    @property
    def very_long(self) -> bool:
        """It has lasted longer than one slow call, a slow search, or a file that is still being written."""
        share = self.thread.cpu_share if self.thread and self.wait.kind is Kind.RUNNING else 1.0
        return self._lasted_s * min(1.0, share / BUSY_SHARE) >= VERY_LONG_S

    @property
    def _lasted_s(self) -> float:
        blocked = self.thread.blocked_s if self.thread and self.thread.still else None
        return max(self.watched_s, blocked or 0.0)

    @property
    def same_sample(self) -> bool:
        """It was never seen to go on to another sample or batch."""
        return self.worker is None or not self.worker.moved

    @property
    def imports(self) -> bool:
        """It waits for another thread's import of the same module."""
        return self.wait.object is not None and self.wait.object.sort == "import"

    @property
    def fetching(self) -> bool:
        """It happens while a sample or batch is made."""
        return self.worker is not None and self.worker.stage in ("fetching", "collating")

    def where(self, *first: Location) -> tuple[Location, ...]:
        """The places to look at: the ones given, then the innermost user frame, and what called it.

        Where it runs no code of the user, it is the code that waits for it.
        """
        places = list(first)
        stack, role = (self.waiter, self.waiter_role) if self.waiter else (self.stack, self.role)
        for frame in list(stack.user_frames() if stack else ())[:4]:
            place = Location(frame.file, frame.line, frame.function, stack.pid if stack else 0, role)
            if all((place.file, place.line) != (other.file, other.line) for other in places):
                places.append(place)
        return tuple(places)

    def at(self, frame: Frame, line: int | None = None) -> Location:
        """A place in this stall's stack."""
        return Location(frame.file, line or frame.line, frame.function, self.process.pid, self.role)

    def fact(self, statement: str) -> Fact:
        """A fact whose source is the wait itself."""
        return Fact(statement, self.wait.source)
