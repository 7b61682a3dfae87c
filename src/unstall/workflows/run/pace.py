"""Follows where a training's time goes, and says when that is worth a closer look."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from unstall.evidence.timings import Note, Times, Timings
from unstall.flight import layout
from unstall.flight.reader import Beats
from unstall.probes import procfs, streams, timings
from unstall.probes.costs import Costs, CostSampler

MARK_S = 2.5  # between two readings of the clocks
RECENT_S = 10.0
FIRST_LOOK_S = 8.0  # of training
LONGEST_PAUSE_S = 300.0
WAITS = 0.35  # share of the time: with less waiting, loading is not looked at


@dataclass
class Pace:
    """The clocks of the process that trains, over time."""

    folder: Path
    began: float = 0.0  # when its first loader was started
    marks: list[tuple[float, Times]] = field(default_factory=list)
    loop: Beats | None = None
    workers: list[int] = field(default_factory=list)
    next_look: float = 0.0
    pause: float = FIRST_LOOK_S
    repeated: Note | None = None  # a stream that all workers begin with the same batches
    _delays: dict[int, float] = field(default_factory=dict)
    _delayed: float = 0.0

    def note(self, records: dict[int, Beats], now: float, *, last: bool = False) -> bool:
        """Take note of the records, every few seconds; whether it did."""
        self.loop = loop = timings.trainer(records)
        if loop is None or not loop.count(layout.ITERATORS):
            return False
        if not self.began:
            self.began, self.next_look = now, now + FIRST_LOOK_S
        if self.marks and now - self.marks[-1][0] < MARK_S and not last:
            return False
        self.workers = [one.pid for one in records.values() if one.is_worker and one.count(layout.PARENT) == loop.pid]
        self.workers = [pid for pid in self.workers if procfs.stat(pid) is not None]
        self._note_delays(self.workers or [loop.pid])
        self.repeated = self.repeated or streams.repeated(str(self.folder), records)
        times = timings.times(records, loop, now - self.began, self._delayed)
        self.marks = [*self.marks[-200:], (now, times)]
        return True

    def _note_delays(self, makers: list[int]) -> None:
        for pid in makers:
            delay = timings.delay_of(pid)
            self._delayed += max(0.0, delay - self._delays.get(pid, 0.0))
            self._delays[pid] = delay

    @property
    def total(self) -> Times:
        """All since the first loader was started."""
        return self.marks[-1][1] if self.marks else Times()

    @property
    def recent(self) -> Times:
        """The last stretch."""
        if not self.marks:
            return Times()
        last = self.marks[-1][0]
        before = [times for at, times in self.marks if at <= last - RECENT_S]
        return self.total.since(before[-1] if before else Times())

    def is_due(self, now: float) -> bool:
        """Whether the training should be looked at more closely, for a few seconds; seldom, if it runs for long."""
        if not self.began or now < self.next_look:
            return False
        self.next_look = now + self.pause
        self.pause = min(2 * self.pause, LONGEST_PAUSE_S)
        return self.recent.waiting > WAITS or self._others_compute()

    def _others_compute(self) -> bool:
        """Threads beside the one that trains use the CPU."""
        loop = self.loop
        if loop is None:
            return False
        threads = procfs.threads(loop.pid)
        cpu = {tid: procfs.cpu(loop.pid, tid)[0] for tid in threads[:64]}
        return len(cpu) > 1 and sum(cpu.values()) - cpu.get(loop.pid, 0.0) > 0.3 * self.total.span_s

    def look(self) -> Costs | None:
        """Sample the training and its workers for some seconds."""
        if self.loop is None or procfs.stat(self.loop.pid) is None:
            return None
        return CostSampler(self.loop.pid, self.workers).collect()

    def timings(self, costs: Costs | None = None) -> Timings | None:
        """The evidence until now; None where nothing was loaded."""
        loop = self.loop
        if loop is None or not self.marks:
            return None
        expected = loop.count(layout.EXPECTED)
        return Timings(
            pid=loop.pid,
            phase=loop.phase,
            total=self.total,
            recent=self.recent,
            workers=loop.count(layout.WORKERS),
            in_epoch=loop.count(layout.IN_EPOCH),
            expected=expected if expected >= 0 else None,
            cores=len(os.sched_getaffinity(0)),
            lines=costs.makers.lines() if costs else (),
            samples=costs.makers.samples if costs else 0,
            background=costs.background if costs else (),
            blocked=costs.blocked if costs else 0.0,
            notes=(*timings.notes(str(self.folder)), *([self.repeated] if self.repeated else ())),
        )
