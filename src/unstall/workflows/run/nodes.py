"""Several machines: each supervisor leaves the state of its ranks beside its run, and reads what the others have left.

Nothing else is needed than a folder of runs that all of them see (`--runs DIR`, on a shared disk). Who is not heard of is
said to be unexamined.
"""

from __future__ import annotations

import contextlib
import platform
import time
from pathlib import Path

import msgspec

from unstall.evidence.ranks import Rank, Ranks, unseen
from unstall.evidence.stacks import Stack, Stacks
from unstall.flight.reader import Beats
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Diagnosis, Verdict
from unstall.model.finding import Finding
from unstall.probes.ranks import by_environment, environment_of

STATE = "ranks.json"
EVERY_S = 4.0
FRESH_S = 60.0  # older states are of a run that has ended, or of a supervisor that is stuck itself
LARGEST_BYTES = 4 * 1024 * 1024


class State(msgspec.Struct, frozen=True):
    """What one supervisor knows of its ranks."""

    job: str
    node: str
    at: float
    ranks: tuple[Rank, ...]


class Nodes:
    """The ranks of this run's training on other machines."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.node = platform.node() or "another machine"
        self.job = ""
        self.told = 0.0
        self._rows: dict[int, tuple[tuple[int, ...], float, Rank]] = {}

    def note(self, records: dict[int, Beats], now: float) -> None:
        """Leave how far the ranks are, every few seconds."""
        if now - self.told < EVERY_S:
            return
        self.told = now
        for pid, one in records.items():
            if one.rank is None or one.is_worker or not any(one.progress):
                continue
            before = self._rows.get(pid)
            if before is None or before[0] != one.progress:
                self._rows[pid] = (one.progress, now, self._rank(pid, one))
        self._rows = {pid: row for pid, row in self._rows.items() if pid in records}
        if self.job:
            rows = tuple(msgspec.structs.replace(row, quiet_s=round(now - at, 1)) for _, at, row in self._rows.values())
            self._leave(rows)

    def _rank(self, pid: int, one: Beats) -> Rank:
        found = by_environment(environment_of(pid))
        if found is not None:
            self.job = _job(found.master, found.world)
        delivered, steps = one.progress[:2]
        doing = f"{one.phase}, {delivered} batches and {steps} steps so far"
        return Rank(one.rank or 0, pid, node=self.node, delivered=delivered, steps=steps, doing=doing)

    def tell(self, bundle: Bundle, diagnosis: Diagnosis) -> None:
        """Leave what a look has seen: it stays until a rank moves again."""
        ranks, stacks = bundle.get(Ranks) or Ranks(world=1), bundle.get(Stacks) or Stacks()
        found = diagnosis.findings if diagnosis.verdict is Verdict.STALLED else ()
        for one in ranks.all:
            if one.node or one.ended:
                continue
            self.job = _job(one.master, one.world)
            progress, at, _ = self._rows.get(one.pid, ((), self.told, one))
            self._rows[one.pid] = (progress, at, _seen(one, stacks.get(one.thread), found, self.node))
        self.told = 0.0

    def _leave(self, rows: tuple[Rank, ...]) -> None:
        draft = self.run / f".{STATE}.new"
        with contextlib.suppress(OSError):
            draft.write_bytes(msgspec.json.encode(State(self.job, self.node, time.time(), rows)))
            draft.replace(self.run / STATE)

    def merged(self, bundle: Bundle) -> Bundle:
        """The evidence, with the ranks of other machines."""
        ranks = bundle.get(Ranks)
        if ranks is None:
            return bundle
        job = next((_job(one.master, one.world) for one in ranks.all if not one.node), "")
        more = ranks.with_others(others(self.run, job))
        known = [one for one in bundle.unexamined if one not in unseen(ranks)]
        return msgspec.structs.replace(bundle.having(more), unexamined=(*known, *unseen(more)))


def _seen(rank: Rank, stack: Stack | None, found: tuple[Finding, ...], node: str) -> Rank:
    """A rank as its own supervisor saw it, for the others."""
    role = f"rank {rank.number}"
    where = tuple(stack.location(one, role) for one in stack.user_frames())[:4] if stack else ()
    call = rank.call if stack is not None and not stack.moved else None
    mine = tuple(one for one in found if one.where and f"{one.where[0].role} ".endswith(f"{role} "))
    place = f" at {where[0].file.rsplit('/', 1)[-1]}:{where[0].line}" if where else ""
    doing = mine[0].title if mine else f"waits for {call.text}{place}" if call else f"it goes on{place}"
    return msgspec.structs.replace(rank, node=node, where=where, found=mine, call=call, doing=doing)


def others(run: Path, job: str) -> list[Rank]:
    """The ranks of the same training that other supervisors have left beside a run."""
    found: list[Rank] = []
    for path in sorted(run.parent.glob(f"*/{STATE}")):
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            if path.parent == run or path.stat().st_size > LARGEST_BYTES:
                continue
            state = msgspec.json.decode(path.read_bytes(), type=State)
            if state.job == job and abs(time.time() - state.at) < FRESH_S:
                found += [msgspec.structs.replace(one, node=one.node or state.node) for one in state.ranks]
    return found


def _job(master: str, world: int) -> str:
    """What the supervisors of one training have in common: where its ranks meet, and how many they are."""
    return f"{master}/{world}"


def waits_for_unseen(bundle: Bundle, diagnosis: Diagnosis) -> bool:
    """Ranks of this machine wait for others that nobody has told of: worth a word, though it is no verdict."""
    ranks = bundle.get(Ranks)
    return diagnosis.verdict is Verdict.UNKNOWN and ranks is not None and bool(ranks.absent)
