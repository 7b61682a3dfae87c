"""A diagnosis: what `unstall` has to say about one target at one moment."""

from __future__ import annotations

import enum

import msgspec

from unstall.model.finding import Finding, Link

SCHEMA = "unstall.diagnosis/1"


class Verdict(enum.StrEnum):
    """The answer in one word."""

    STALLED = "stalled"
    SLOW = "slow"
    PROGRESSING = "progressing"
    NOT_LEARNING = "not-learning"
    CRASHED = "crashed"
    FINISHED = "finished"
    UNKNOWN = "unknown"


class Target(msgspec.Struct, frozen=True):
    """What was looked at."""

    pid: int | None
    command: str


class Unexamined(msgspec.Struct, frozen=True):
    """Something that could not be seen, and why."""

    what: str
    why: str
    hint: str = ""


class Diagnosis(msgspec.Struct, frozen=True, tag_field="schema", tag=SCHEMA):
    """Verdict, findings (root first), and what was left unexamined."""

    target: Target
    verdict: Verdict
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    chain: tuple[Link, ...] = ()
    unexamined: tuple[Unexamined, ...] = ()
    took_s: float = 0.0
