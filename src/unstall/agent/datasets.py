"""What a worker's dataset holds, noted only where the worker's own memory grows much."""

from __future__ import annotations

import os
import sys

from . import words

MYPY = False
if MYPY:
    from typing import Any

MUCH_BYTES = 64 << 20
WRAPPERS = 4  # a Subset of a ConcatDataset of …
LARGE = 10_000  # objects in a container
MOST_CONTAINERS = 64
_first: dict[int, tuple[dict[str, int], dict[str, int]]] = {}  # by process: its memory, and the lengths of containers
_before: dict[int, dict[str, int]] = {}


def note(folder: str, dataset: Any, batches: int) -> None:
    """Called after the first batch, and then each time that twice as many have been made."""
    try:
        _note(folder, dataset, batches)
    except Exception:  # noqa: BLE001  a dataset may answer anything when it is looked at
        pass


def _note(folder: str, dataset: Any, batches: int) -> None:
    pid, memory, held = os.getpid(), _memory(), _containers(dataset)
    lengths = {name: len(one) for name, (one, _) in held.items()}
    if pid not in _first:
        _first.clear()  # what a parent has noted is not ours
        _first[pid], _before[pid] = (memory, lengths), lengths
        return
    first, lengths_first = _first[pid]
    before, _before[pid] = _before[pid], lengths
    grown = memory["private"] - first["private"]
    if grown < MUCH_BYTES:
        return
    growing = {name: more for name, count in lengths.items() if (more := count - lengths_first.get(name, 0)) >= 16}
    large = {name: count for name, count in lengths.items() if count >= LARGE and _of_objects(held[name][0])}
    name = max(growing or large, key=lambda one: (growing or large)[one], default="")
    told: dict[str, object] = {
        "kind": "worker-caches" if growing else "worker-copies",
        "pid": pid,
        "place": None,
        "names": [[name, held[name][1], 0, ""]] if name else [],
        "what": name,
        "count": lengths.get(name, 0),
        "more": lengths.get(name, 0) - before.get(name, 0),
        "size": grown,
        "shared_less": first["shared"] - memory["shared"],
        "grown": memory["rss"] - first["rss"],
        "batches": batches,
    }
    words.write(os.path.join(folder, f"{pid}-worker-memory.note"), told)


def _memory() -> dict[str, int]:
    """Bytes of this process: all that it has mapped, what it alone has written to, what it shares with others."""
    sums = {"rss": 0, "private": 0, "shared": 0}
    names = {"Rss:": "rss", "Private_Dirty:": "private", "Shared_Dirty:": "shared", "Shared_Clean:": "shared"}
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            parts = line.split()
            if parts[0] in names:
                sums[names[parts[0]]] += int(parts[1]) << 10
    return sums


def _containers(dataset: Any) -> dict[str, tuple[Any, str]]:
    """The containers that a dataset, those in it, and its module hold; each with its source file."""
    found: dict[str, tuple[Any, str]] = {}
    for _ in range(WRAPPERS):
        module = sys.modules.get(type(dataset).__module__)
        file = getattr(module, "__file__", None) or ""
        places = [getattr(dataset, "__dict__", {})]
        if file and "/site-packages/" not in file:
            places += [vars(type(dataset)), vars(module)]
        for place in places:
            for name, one in list(place.items()):
                if type(one) in (list, dict, tuple, set) and len(found) < MOST_CONTAINERS and name[:2] != "__":
                    found.setdefault(name, (one, file))
        inner = getattr(dataset, "__dict__", {}).get("dataset")
        if inner is None:
            break
        dataset = inner
    return found


def _of_objects(container: Any) -> bool:
    """Its items are ordinary Python objects: each has a count of references, which changes when it is looked at."""
    return type(next(iter(container), None)) in (str, bytes, int, float, tuple, list, dict)
