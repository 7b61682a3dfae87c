"""Flight records of workers that have ended: added up, and few."""

from __future__ import annotations

import os
from pathlib import Path

from unstall.flight import layout, reader
from unstall.flight.writer import Record
from unstall.probes import timings

PARENT = 4711


def worker(folder: Path, pid: int) -> None:
    """The record of a worker, as one leaves it."""
    words = [0] * layout.SLOTS
    words[layout.HEADER], words[layout.PID], words[layout.PARENT] = layout.MAGIC, pid, PARENT
    words[layout.ROLE], words[layout.SAMPLES], words[layout.BATCHES] = layout.WORKER, 10, 2
    words[layout.FETCHING_NS] = 3_000_000_000
    (folder / f"{pid}.flight").write_bytes(b"".join(word.to_bytes(8, "little", signed=True) for word in words))


def test_many_dead_workers_become_one_record(tmp_path: Path) -> None:
    record = Record()
    record.open(str(tmp_path), layout.MAIN)
    record.slots[layout.PID] = PARENT
    os.rename(tmp_path / f"{os.getpid()}.flight", tmp_path / f"{PARENT}.flight")
    for pid in range(10_000, 10_200):
        worker(tmp_path, pid)
    for _ in range(3):  # again and again, as the supervisor does
        records = reader.read_all(str(tmp_path))
        reader.retire(str(tmp_path), records, living={PARENT, 10_000})
        assert records == reader.read_all(str(tmp_path))
        times = timings.times(records, records[PARENT], 1.0, 0.0)
        assert (times.fetched, times.batches, times.fetching_s) == (2000, 400, 600.0)
    assert 10_000 in records, "one that lives stays"
    assert max(records) == 10_199, "the newest dead ones stay"
    assert len(records) <= reader.MOST_RECORDS + 3
