"""A cause, and how its detectors are declared.

A detector is a pure function. Its annotations name the evidence it needs; where some is missing, it is not
called. It yields findings, or nothing.

    cause = Cause(slug="worker-stopped", title="A worker process was stopped", remedies=(...))

    @cause.detector
    def in_the_wait_graph(stall: Stall) -> Iterator[Finding]: ...
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from unstall.model.diagnosis import Verdict
from unstall.model.evidence import Evidence
from unstall.model.finding import Confidence, Fact, Finding, Link, Location, Remedy

Detect = Callable[..., Iterable[Finding]]


@dataclass(frozen=True)
class Detector:
    """One way to recognise a cause, and the evidence that it needs."""

    function: Detect
    needs: tuple[type[Evidence], ...]
    optional: frozenset[type[Evidence]] = frozenset()  # None is given where it is missing


@dataclass(frozen=True)
class Cause:
    """One cause of stuck training. The docstring of its module is its page."""

    slug: str
    title: str
    remedies: tuple[Remedy, ...] = ()
    verdict: Verdict = Verdict.STALLED  # on a running training that has it
    detectors: list[Detector] = field(default_factory=list)

    def detector(self, function: Detect) -> Detect:
        """Register a detector. Its parameters' annotations say what evidence it gets; `Kind | None` need not be there."""
        hints = typing.get_type_hints(function)
        wanted = [hints[name] for name in inspect.signature(function).parameters]
        needs = tuple(next(iter(typing.get_args(one)), one) for one in wanted)
        self.detectors.append(Detector(function, needs, frozenset(filter(None, map(_optional, wanted)))))
        return function

    def finding(
        self,
        confidence: Confidence,
        *,
        title: str | None = None,
        where: Iterable[Location] = (),
        sample: int | str | None = None,
        chain: Iterable[Link] = (),
        because: Iterable[Fact] = (),
        remedies: Iterable[Remedy] | None = None,
    ) -> Finding:
        """A finding of this cause."""
        return Finding(
            cause=self.slug,
            title=title or self.title,
            confidence=confidence,
            where=tuple(where),
            sample=sample,
            chain=tuple(chain),
            because=tuple(because),
            remedies=self.remedies if remedies is None else tuple(remedies),
        )


def _optional(annotation: object) -> type[Evidence] | None:
    """The kind in `Kind | None`."""
    kinds = typing.get_args(annotation)
    return kinds[0] if type(None) in kinds else None
