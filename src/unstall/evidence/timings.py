"""What a supervised training does with its time: waits for data, trains, validates; and which lines that costs."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence
from unstall.model.finding import Location

FIRST_ONLY = "next(iter(…))"  # what a note says of a line that takes only the first batch of an iterator


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the user's code, and the share of all samples that found a thread in it or in what it calls."""

    file: str
    line: int
    function: str
    share: float
    own: float = 0.0  # the share without what it calls in the user's own code

    def location(self, pid: int | None = None, role: str = "") -> Location:
        """Where it is."""
        return Location(self.file, self.line, self.function, pid, role)


class Background(msgspec.Struct, frozen=True, omit_defaults=True):
    """A thread of the training's process beside the one that trains."""

    tid: int
    name: str
    gil: float  # the share of samples in which it had the GIL
    cpu: float  # of a core
    lines: tuple[Line, ...] = ()


class Times(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stretch of training: where the time of the training loop went, and what was counted meanwhile."""

    span_s: float = 0.0
    waited_s: float = 0.0  # for batches
    trained_s: float = 0.0  # between two batches
    validated_s: float = 0.0
    saved_s: float = 0.0
    startup_s: float = 0.0  # making iterators: starting workers
    first_wait_s: float = 0.0  # of the waiting: for the first batches of iterators
    delivered: int = 0
    steps: int = 0
    iterators: int = 0
    epochs: int = 0
    empty_epochs: int = 0
    asked_after_end: int = 0
    fetched: int = 0  # samples
    batches: int = 0  # that were made of them
    fetching_s: float = 0.0  # by all workers, or by the training loop itself
    computing_s: float = 0.0  # of the fetching: on a core, or ready for one

    @property
    def waiting(self) -> float:
        """The share of the time that the training waited for data."""
        return self.waited_s / self.span_s if self.span_s else 0.0

    @property
    def computing(self) -> float:
        """The share of the fetching that was computing; the rest was waiting for something."""
        return min(1.0, self.computing_s / self.fetching_s) if self.fetching_s else 0.0

    def since(self, before: Times) -> Times:
        """What came after an earlier reading."""
        names = Times.__struct_fields__
        return Times(**{name: round(getattr(self, name) - getattr(before, name), 6) for name in names})


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rare thing that a process wrote down: how often, for how long, and at which line."""

    kind: str
    pid: int = 0
    where: Location | None = None
    what: str = ""
    count: int = 0
    seconds: float = 0.0
    size: int = 0
    endless: bool = False  # the source at that line shows a loop that nothing ends
    factor: float = 0.0  # how many times longer a step takes than the first ones did
    sure: bool = False  # it went on over several of the optimizer's steps
    steps: int = 0  # between the two looks that were compared
    more: int = 0  # what was added between them
    shared_less: int = 0  # bytes that a worker does not share with others any more
    bounded: bool = False  # the source shows that what grows is kept below some length


class Timings(Evidence, frozen=True):
    """The time of one training: all of it, and the last stretch."""

    kind: ClassVar[str] = "timings"

    pid: int = 0
    phase: str = "starting"
    total: Times = Times()
    recent: Times = Times()
    workers: int = 0  # of the loader asked last
    in_epoch: int = 0  # batches of its iterator so far
    expected: int | None = None  # and how many it promised
    cores: int = 1
    lines: tuple[Line, ...] = ()  # where samples are made, hottest first
    samples: int = 0  # how many there were of threads that make samples
    background: tuple[Background, ...] = ()
    notes: tuple[Note, ...] = ()
    blocked: float = 0.0  # the share of samples in which the training loop was kept from running by the GIL

    def notes_of(self, kind: str) -> tuple[Note, ...]:
        """All notes of a kind."""
        return tuple(one for one in self.notes if one.kind == kind)

    def note(self, kind: str) -> Note | None:
        """The first note of a kind."""
        return next((one for one in self.notes if one.kind == kind), None)
