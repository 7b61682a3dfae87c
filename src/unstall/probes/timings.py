"""Adds up where a supervised training's time went, from its flight records and notes."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import msgspec

from unstall.evidence import syntax
from unstall.evidence.timings import FIRST_ONLY, Note, Times
from unstall.flight import layout
from unstall.flight.reader import Beats
from unstall.model.finding import Location
from unstall.probes import procfs

LARGEST_NOTE = 1 << 16


def trainer(records: dict[int, Beats]) -> Beats | None:
    """The process that trains: of those that are nobody's worker, the one with the most batches."""
    loops = [one for one in records.values() if not one.is_worker]
    return max(loops, key=lambda one: one.count(layout.DELIVERED), default=None)


def times(records: dict[int, Beats], loop: Beats, now: float, delayed_s: float) -> Times:
    """All that was counted until now. `now` is in seconds after the start; `delayed_s` the workers' wait for a core."""

    def seconds(slot: int) -> float:
        return loop.count(slot) / 1e9

    makers = [loop, *(one for one in records.values() if one.is_worker and one.count(layout.PARENT) == loop.pid)]
    fetching = sum(one.count(layout.FETCHING_NS) for one in makers) / 1e9
    computing = sum(one.count(layout.FETCHING_CPU_NS) for one in makers) / 1e9
    return Times(
        span_s=now,
        waited_s=seconds(layout.LOADING_NS),
        trained_s=seconds(layout.TRAINING_NS),
        validated_s=seconds(layout.VALIDATION_NS),
        saved_s=seconds(layout.CHECKPOINT_NS),
        startup_s=seconds(layout.STARTUP_NS),
        first_wait_s=seconds(layout.FIRST_WAIT_NS),
        delivered=loop.count(layout.DELIVERED),
        steps=loop.count(layout.STEPS),
        iterators=loop.count(layout.ITERATORS),
        epochs=loop.count(layout.EPOCHS),
        empty_epochs=loop.count(layout.EMPTY_EPOCHS),
        asked_after_end=loop.count(layout.ASKED_AFTER_END),
        fetched=sum(one.count(layout.SAMPLES) for one in makers),
        batches=sum(one.count(layout.BATCHES) for one in makers),
        fetching_s=fetching,
        computing_s=min(fetching, computing + delayed_s),
    )


def delay_of(pid: int) -> float:
    """For how many seconds a process's main thread was ready to run and had no core."""
    words = (procfs.read(f"/proc/{pid}/task/{pid}/schedstat", 128) or "").split()
    return int(words[1]) / 1e9 if len(words) > 1 else 0.0


def notes(folder: str) -> tuple[Note, ...]:
    """The rare things that the training's processes wrote down."""
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".note"):
            told = _read(os.path.join(folder, name))
            if isinstance(told, dict):
                found.append(_note(told))
    return tuple(found)


def _note(told: dict[str, Any]) -> Note:
    place = told.get("place")
    pid = int(told.get("pid", 0))
    where = Location(str(place[0]), int(place[1]), str(place[2]), pid, "main") if place else None
    endless = _endless_loop(where) if where and told.get("kind") == "overrun" else None
    first_only = where is not None and told.get("kind") == "iterators" and _takes_the_first(where)
    if where and endless:
        where = msgspec.structs.replace(where, line=endless)
    return Note(
        kind=str(told.get("kind")),
        pid=pid,
        where=where,
        what=FIRST_ONLY if first_only else str(told.get("what", "")),
        count=int(told.get("count", told.get("expected", 0))),
        seconds=float(told.get("seconds", 0.0)),
        size=int(told.get("size", 0)),
        endless=endless is not None,
    )


def _takes_the_first(place: Location) -> bool:
    """Whether the line says `next(iter(…))`: it takes the first batch, and throws the iterator away."""
    calls = syntax.calls_on_line(_tree(place.file), place.line)
    return {"next", "iter"} <= {syntax.called_name(one) for one in calls}


def _tree(file: str) -> ast.AST:
    try:
        return ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _endless_loop(function: Location) -> int | None:
    """The line of a loop without a way out in the function that begins at this line."""
    for node in ast.walk(_tree(function.file)):
        if isinstance(node, ast.FunctionDef) and syntax.begins_at(node, function.line):
            loops = [one for one in syntax.walk(node) if isinstance(one, ast.While) and not syntax.exits(one)]
            return loops[0].lineno if loops else None
    return None


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.loads(file.read(LARGEST_NOTE))
    except (OSError, ValueError):
        return None
