"""A finding: one cause, recognised, with its proof."""

from __future__ import annotations

import enum

import msgspec


class Confidence(enum.StrEnum):
    """How sure a finding is. Each level says what was seen, not how it feels."""

    POSSIBLE = "possible"  # fits, but so do other causes
    LIKELY = "likely"  # a signature known from this cause alone
    CERTAIN = "certain"  # the mechanism itself was observed

    @property
    def rank(self) -> int:
        """Larger is surer."""
        return ("possible", "likely", "certain").index(self.value)


class Grade(enum.StrEnum):
    """How an edge of the wait graph is known."""

    EXACT = "exact"  # the kernel, or the lock itself, says so
    INFERRED = "inferred"  # from stacks and source
    UNKNOWN = "unknown"


class Location(msgspec.Struct, frozen=True, omit_defaults=False):
    """A place in a program."""

    file: str
    line: int
    function: str = ""
    pid: int | None = None
    role: str = ""


class Link(msgspec.Struct, frozen=True):
    """One step of the chain from the training loop to the root of the stall."""

    who: str
    waits_for: str
    grade: Grade
    source: str


class Fact(msgspec.Struct, frozen=True):
    """One thing that was seen, and what says so."""

    statement: str
    source: str


class Remedy(msgspec.Struct, frozen=True):
    """Something to do about it."""

    action: str
    why: str = ""
    snippet: str | None = None
    automatic: bool = False


class Finding(msgspec.Struct, frozen=True):
    """One cause of the trouble, with where, how we know, and what to do."""

    cause: str
    title: str
    confidence: Confidence
    where: tuple[Location, ...] = ()
    sample: int | str | None = None
    chain: tuple[Link, ...] = ()
    because: tuple[Fact, ...] = ()
    remedies: tuple[Remedy, ...] = ()
