"""Notices by the beats that a training does not move, and says when to look at it.

A look harms nobody, so one is taken early; what is reported is what the look finds. Slow is not stuck: a look that
shows movement, or a wait that ends by itself, is followed by a longer pause.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from unstall.flight.reader import Beats

FIRST_LOOK_S = 3.0  # after the last beat, once there were some
AT_START_S = 8.0  # before the first beat: imports, downloads, an index that is built
LONGEST_PAUSE_S = 20.0
PATIENCE = 2.0  # times the longest pause so far that turned out to be healthy
STALLED_ANYWAY_S = 30.0  # nothing moves and no cause is known: said only after this long


@dataclass
class Watch:
    """The beats of all processes of a training. Of several ranks, the one that has been quiet for longest counts."""

    started: float
    stall_after: float | None = None
    changed: float = 0.0
    longest_pause: float = 0.0
    beats: int = 0
    next_look: float = 0.0
    _last: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _ranks: dict[int, float] = field(default_factory=dict)  # when each rank moved for the last time

    def __post_init__(self) -> None:
        self.changed = self.started
        self.next_look = self.started + self.patience

    @property
    def patience(self) -> float:
        """How long nothing has to move before a look is taken."""
        if self.stall_after is not None:
            return self.stall_after
        least = FIRST_LOOK_S if self.beats else AT_START_S
        return min(max(least, PATIENCE * self.longest_pause), LONGEST_PAUSE_S)

    @property
    def known(self) -> set[int]:
        """The processes that have been heard of."""
        return set(self._last)

    def note(self, records: dict[int, Beats], now: float) -> bool:
        """Take note of the records; whether something has moved."""
        seen = {pid: (*one.progress, *one.work) for pid, one in records.items()}
        if seen == self._last:
            return False
        movers = {pid for pid, beat in seen.items() if self._last.get(pid, (0,) * len(beat)) != beat}
        self._last = seen
        changed = self._last_moved(records, movers, now)
        moved = changed > self.changed
        if moved:
            if self.beats:
                self.longest_pause = max(self.longest_pause, now - self.changed)
            self.beats += 1
            self.changed = changed
            self.next_look = changed + self.patience
        return moved

    def _last_moved(self, records: dict[int, Beats], movers: set[int], now: float) -> float:
        """When anything moved for the last time; with several ranks, the one of them that has been quiet for longest."""
        ranks = {pid: _rank(records, one) for pid, one in records.items()}
        self._ranks = {rank: at for rank, at in self._ranks.items() if rank in ranks.values()}
        self._ranks.update({rank: now for pid in movers if (rank := ranks[pid]) is not None})
        if len(self._ranks) > 1:
            return min(self._ranks.values())
        return now if movers else self.changed

    def is_due(self, now: float) -> bool:
        """Whether it is time for a look."""
        return now >= self.next_look

    def looked(self, now: float) -> None:
        """A look found nothing to report: wait longer for the next one."""
        quiet = now - self.changed
        self.next_look = now + min(max(FIRST_LOOK_S, quiet / 2), LONGEST_PAUSE_S)

    def quiet(self, now: float) -> float:
        """How long nothing has moved."""
        return now - self.changed


def _rank(records: dict[int, Beats], one: Beats) -> int | None:
    """The rank that a process is, or that its parent is."""
    parent = records.get(one.parent)
    return one.rank if one.rank is not None or parent is None else parent.rank
