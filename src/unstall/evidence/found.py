"""What the causes say of one stall. Built by the engine, for causes that tell what a stall means for others."""

from __future__ import annotations

from typing import ClassVar

from unstall.evidence.stall import FINITE, LONG_S, Stall
from unstall.model.evidence import Evidence
from unstall.model.finding import Confidence, Finding


class Found(Evidence, frozen=True):
    """The findings at one end of the chain of waits."""

    kind: ClassVar[str] = "found"

    all: tuple[Finding, ...] = ()

    @property
    def surest(self) -> Finding | None:
        """The one that is known best."""
        return max(self.all, key=lambda one: one.confidence.rank, default=None)

    def certainty(self, stall: Stall) -> Confidence:
        """How sure it is that this stall does not end by itself."""
        if self.surest is not None:
            return self.surest.confidence
        endless = stall.wait.kind not in FINITE and stall.wait.limit_s is None and not stall.cycle
        still = stall.thread is not None and stall.thread.still
        return Confidence.LIKELY if endless and still and stall.watched_s >= LONG_S else Confidence.POSSIBLE
