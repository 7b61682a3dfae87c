"""Compares what the workers of one iterator over an iterable dataset have yielded first."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

from unstall.evidence import syntax
from unstall.evidence.timings import Note
from unstall.flight import layout
from unstall.flight.reader import Beats
from unstall.model.finding import Location

LARGEST_NOTE = 1 << 16
LEAST_BATCHES = 2  # that differ from each other: a stream of one value says nothing


def repeated(folder: str, records: dict[int, Beats]) -> Note | None:
    """A note of a stream that all workers have begun with the same batches; None where there is none."""
    for name in sorted(os.listdir(folder)):
        if "-stream" in name and name.endswith(".note"):
            told = _read(os.path.join(folder, name))
            workers = [one for one in records.values() if _works_for(one, told)]
            firsts = {_first(one) for one in workers}
            numbers = {one.number for one in workers}
            if len(numbers) < 2 or len(numbers) < told.get("count", 0) or len(firsts) != 1:
                continue
            first = firsts.pop()
            if len(first) >= LEAST_BATCHES:
                return Note(
                    "same-batches",
                    pid=int(told.get("pid", 0)),
                    where=_place(told),
                    what=str(told.get("what", "")),
                    count=len(numbers),
                    size=len(first),
                )
    return None


def _works_for(one: Beats, told: dict[str, Any]) -> bool:
    mine = one.is_worker and one.parent == told.get("pid")
    return mine and one.count(layout.ITERATOR_SEED) == told.get("seed")


def _first(one: Beats) -> tuple[int, ...]:
    """The digests of a worker's first batches, if all of them are there, can be compared, and are different ones."""
    found = tuple(one.count(layout.FIRST_BATCHES + number) for number in range(layout.MOST_FIRST))
    made = min(one.count(layout.BATCHES), layout.MOST_FIRST)
    found = found[:made]
    return found if all(found) and len(set(found)) == len(found) else ()


def _place(told: dict[str, Any]) -> Location | None:
    """The loop in the dataset's `__iter__` that goes over everything; else where that begins."""
    place = told.get("place")
    if not place:
        return None
    where = Location(str(place[0]), int(place[1]), str(place[2]), int(told.get("pid", 0)), "worker")
    try:
        tree = ast.parse(Path(where.file).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return where
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__iter__" and syntax.begins_at(node, where.line):
            found = [one for one in syntax.walk(node) if isinstance(one, ast.For | ast.While | ast.Return)]
            loops = [one for one in found if not isinstance(one, ast.Return)]
            return Location(
                where.file, next(iter([*loops, *found, node])).lineno, where.function, where.pid, where.role
            )
    return where


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.read(LARGEST_NOTE))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
