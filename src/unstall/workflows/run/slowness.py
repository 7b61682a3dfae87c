"""Notices that a training crawls, or goes on without an end, though its beats move."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import msgspec

from unstall.evidence.timings import Timings
from unstall.flight.reader import Beats
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Diagnosis, Target
from unstall.model.finding import Confidence
from unstall.probes.costs import Costs
from unstall.workflows import why
from unstall.workflows.run import history
from unstall.workflows.run.pace import Pace


@dataclass
class Slowness:
    """Judges the pace of a training from time to time. Each cause is told once, and again when it is surer."""

    pace: Pace
    target: Target
    costs: Costs | None = None
    told: set[tuple[str, Confidence]] = field(default_factory=set)
    _looking: threading.Thread | None = None

    def tick(self, records: dict[int, Beats], now: float) -> tuple[Bundle, Diagnosis] | None:
        """Take note of the records; what is new to say, if anything."""
        marked = self.pace.note(records, now)
        if self._looking is not None:
            if self._looking.is_alive():
                return None
            self._looking, marked = None, True
        if self.pace.is_due(now):
            self._looking = threading.Thread(target=self._look, daemon=True)
            self._looking.start()
            return None
        return self.news() if marked else None

    def _look(self) -> None:
        try:
            self.costs = self.pace.look() or self.costs
        except Exception:  # noqa: BLE001  a process that ends meanwhile, a stack that makes no sense
            history.note_trouble(self.pace.folder)

    def news(self) -> tuple[Bundle, Diagnosis] | None:
        """What there is to say now that was not said before."""
        evidence = self.evidence()
        if evidence is None:
            return None
        bundle = Bundle(self.target, {evidence.kind: evidence})
        return self.fresh(bundle)

    def fresh(self, bundle: Bundle) -> tuple[Bundle, Diagnosis] | None:
        """What the evidence says of a training that moves, if it was not said before, or not so surely."""
        return self.once(bundle, why.judge(bundle, in_motion=True))

    def once(self, bundle: Bundle, diagnosis: Diagnosis) -> tuple[Bundle, Diagnosis] | None:
        """A diagnosis with the findings that were not told before, or not so surely; None where all were."""
        fresh = tuple(one for one in diagnosis.findings if (one.cause, one.confidence) not in self.told)
        if not fresh:
            return None
        self.told |= {(one.cause, one.confidence) for one in fresh}
        return bundle, msgspec.structs.replace(diagnosis, findings=fresh, summary=fresh[0].title)

    @property
    def is_sure(self) -> bool:
        """Something was said that is more than possible."""
        return any(confidence is not Confidence.POSSIBLE for _, confidence in self.told)

    def evidence(self) -> Timings | None:
        """Where the time went until now."""
        return self.pace.timings(self.costs)
