"""What `unstall run` has to say about a whole run."""

from __future__ import annotations

import msgspec

from unstall.model.diagnosis import Diagnosis, Target, Unexamined, Verdict
from unstall.model.finding import Finding, Link

SCHEMA = "unstall.run/1"


class Recovery(msgspec.Struct, frozen=True):
    """Something that was done to get the training moving again."""

    at_s: float
    cause: str
    action: str
    sample: int | str | None = None
    detail: str = ""


class Skipped(msgspec.Struct, frozen=True):
    """A sample that was not delivered."""

    sample: int | str
    cause: str


class TimedDiagnosis(msgspec.Struct, frozen=True):
    """A diagnosis, and when it was made: seconds after the start."""

    at_s: float
    target: Target
    verdict: Verdict
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    chain: tuple[Link, ...] = ()
    unexamined: tuple[Unexamined, ...] = ()
    took_s: float = 0.0

    @classmethod
    def of(cls, diagnosis: Diagnosis, at_s: float) -> TimedDiagnosis:
        """The diagnosis with its time."""
        return cls(at_s=at_s, **{name: getattr(diagnosis, name) for name in Diagnosis.__struct_fields__})


class Run(msgspec.Struct, frozen=True, tag_field="schema", tag=SCHEMA):
    """One supervised run. `exit_code` is None while it runs."""

    target: Target
    verdict: Verdict
    exit_code: int | None = None
    took_s: float = 0.0
    folder: str = ""
    diagnoses: tuple[TimedDiagnosis, ...] = ()
    recoveries: tuple[Recovery, ...] = ()
    skipped: tuple[Skipped, ...] = ()
