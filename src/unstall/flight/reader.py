"""Reads flight records."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

from . import layout

MOST_RECORDS = 64  # of workers that have ended
_WORDS = struct.Struct(f"={layout.SLOTS}q")


@dataclass(frozen=True)
class Beats:
    """What a process has written until now."""

    words: tuple[int, ...]

    @property
    def pid(self) -> int:
        """The process that wrote it."""
        return self.words[layout.PID]

    @property
    def is_worker(self) -> bool:
        """It fetches samples for another process."""
        return self.words[layout.ROLE] == layout.WORKER

    @property
    def number(self) -> int | None:
        """The worker's number."""
        return self.words[layout.NUMBER] if self.is_worker else None

    @property
    def rank(self) -> int | None:
        """Which rank of a distributed training it is, or works for."""
        return self.words[layout.RANK] - 1 if self.words[layout.RANK] > 0 else None

    @property
    def parent(self) -> int:
        """The process that started it."""
        return self.words[layout.PARENT]

    @property
    def phase(self) -> str:
        """What the training loop is at."""
        return _name(layout.PHASE_NAMES, self.words[layout.PHASE])

    @property
    def stage(self) -> str:
        """What is done with samples here."""
        return _name(layout.STAGE_NAMES, self.words[layout.STAGE])

    @property
    def sample(self) -> int | None:
        """The map-style sample that is being fetched, or was the last one."""
        found = self.words[layout.SAMPLE]
        return None if found == layout.NO_SAMPLE else found

    @property
    def progress(self) -> tuple[int, ...]:
        """What changes as long as the training loop gets on."""
        words = self.words
        return tuple(words[one] for one in (layout.DELIVERED, layout.STEPS, layout.PHASE, layout.EPOCHS))

    @property
    def work(self) -> tuple[int, ...]:
        """What changes as long as samples are fetched here."""
        return self.words[layout.SAMPLES], self.words[layout.BATCHES]

    def count(self, slot: int) -> int:
        """One slot."""
        return self.words[slot]


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else "?"


def read(path: str) -> Beats | None:
    """One record; None where it is no complete one yet."""
    try:
        with open(path, "rb") as file:
            data = file.read(layout.SIZE)
    except OSError:
        return None
    if len(data) != layout.SIZE:
        return None
    words = _WORDS.unpack(data)
    return Beats(words) if words[layout.HEADER] == layout.MAGIC else None


def read_all(folder: str) -> dict[int, Beats]:
    """Every record of a run, by process."""
    found = {}
    try:
        names = [one for one in os.listdir(folder) if one.endswith(".flight")]
    except OSError:
        return {}
    for name in names:
        beats = read(os.path.join(folder, name))
        if beats is not None:
            found[beats.pid] = beats
    return found


def retire(folder: str, records: dict[int, Beats], living: set[int], most: int = MOST_RECORDS) -> None:
    """Add up the records of workers that have ended, where there are very many, and remove them.

    A training that starts its workers anew for each epoch leaves thousands. The newest dead ones stay: they may be
    needed to explain an end.
    """
    dead = sorted(pid for pid, one in records.items() if one.is_worker and pid > 0 and pid not in living)
    for pid in dead[: max(0, len(dead) - most)]:
        parent = records[pid].words[layout.PARENT]
        total = records.get(-parent)
        words = list(total.words if total else (0,) * layout.SLOTS)
        words[layout.HEADER], words[layout.PID], words[layout.PARENT] = layout.MAGIC, -parent, parent
        words[layout.ROLE], words[layout.NUMBER], words[layout.SAMPLE] = layout.WORKER, -1, layout.NO_SAMPLE
        for slot in (layout.SAMPLES, layout.BATCHES, layout.FETCHING_NS, layout.FETCHING_CPU_NS):
            words[slot] += records[pid].words[slot]
        records[-parent] = Beats(tuple(words))
        with open(os.path.join(folder, f"{parent}-ended.flight"), "wb") as file:
            file.write(_WORDS.pack(*words))
        os.unlink(os.path.join(folder, f"{pid}.flight"))
        del records[pid]
