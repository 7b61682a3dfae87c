"""Iterators over loaders that are kept, with their workers, though others over the same data were made since."""

from __future__ import annotations

import os
import weakref

MYPY = False
if MYPY:
    from typing import Any

WORTH_A_NOTE = (4, 6, 8, 12, 16, 24, 32, 64, 128)


class Kept:
    """The living iterators with workers of this process."""

    def __init__(self) -> None:
        self.made: list[tuple[weakref.ref[Any], int]] = []  # and how many batches had been delivered before

    def add(self, iterator: Any, delivered: int) -> tuple[int, list[int], bool]:
        """How many iterators over such data live now, each made after more of the training; and their workers.

        And whether all are over the very same object.
        """
        if not getattr(iterator, "_num_workers", 0):
            return 0, [], False
        self.made = [one for one in self.made if one[0]() is not None]
        self.made.append((weakref.ref(iterator), delivered))
        living = [(one(), at) for one, at in self.made]
        alike = [(one, at) for one, at in living if one is not None and not one._shutdown and _alike(one, iterator)]
        times = len({at for _, at in alike})
        if times not in WORTH_A_NOTE:
            return times, [], False
        pids = [worker.pid for one, _ in alike for worker in one._workers]
        living_pids = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        return times, living_pids, all(one._dataset is iterator._dataset for one, _ in alike)


def _alike(one: Any, other: Any) -> bool:
    """Whether two iterators go over the same data: the same object, or one that was made anew in the same way."""
    first, second = one._dataset, other._dataset
    if first is second:
        return True
    try:
        return type(first) is type(second) and len(first) == len(second)
    except Exception:  # noqa: BLE001  no length: not known to be alike
        return False
