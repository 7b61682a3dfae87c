"""Notes: rare things that a training loop did, with the line of the user's code that did them. Each is written once or a few times."""

from __future__ import annotations

import functools
import os
import sys

from . import words
from .keeping import Kept

MYPY = False
if MYPY:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

OFTEN = (4, 8, 16)  # iterators made: then it is worth a note where that happens
FIRST_STREAMS = 4  # iterators over iterable datasets that are followed
AGAIN_AND_AGAIN = 200  # empty epochs, or calls after the end of one
_LIBRARIES = (os.path.dirname(os.__file__), os.path.dirname(os.path.abspath(__file__)))


def _quietly(note: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(note)
    def noted(*arguments: Any, **options: Any) -> None:
        try:
            note(*arguments, **options)
        except Exception:  # noqa: BLE001  a note is not worth an error in the training
            pass

    return noted


class Notes:
    """The notes of one process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.made: dict[tuple[str, int, str], int] = {}
        self.kept = Kept()
        self.streams = 0

    @_quietly
    def iterator_made(self, count: int, seconds: float) -> None:
        """An iterator over a loader was made; it took that long."""
        if count > OFTEN[-1]:
            return
        place = _user_place(sys._getframe())
        if place is not None:
            self.made[place] = self.made.get(place, 0) + 1
        if self.made and (count in OFTEN or seconds > 1):
            most = max(self.made, key=lambda one: self.made[one])
            self._write("iterators", most, count=count, seconds=seconds)

    @_quietly
    def workers_started(self, iterator: Any, delivered: int) -> None:
        """An iterator has started workers: do those of earlier ones still live? And is it a stream that they share?"""
        kept, workers, same = self.kept.add(iterator, delivered)
        if workers:
            what = "the same" if same else "alike"
            self._write("kept-iterators", _user_place(sys._getframe()), count=kept, size=len(workers), what=what)
        if iterator._dataset_kind and iterator._num_workers > 1 and self.streams < FIRST_STREAMS:
            self.streams += 1
            code = getattr(getattr(type(iterator._dataset), "__iter__", None), "__code__", None)
            place = (code.co_filename, code.co_firstlineno, code.co_qualname) if code and is_users(code) else None
            self._write(
                "stream",
                place or _user_place(sys._getframe()),
                number=self.streams,
                seed=iterator._base_seed,
                count=iterator._num_workers,
                what=type(iterator._dataset).__name__,
            )

    @_quietly
    def graph(self, what: str, names: list[list[object]], **more: Any) -> None:
        """A container or a variable keeps the graphs of earlier steps."""
        self._write("graph", _user_place(sys._getframe()), what=what, names=names, **more)

    @_quietly
    def pickled(self, size: int, seconds: float, what: str) -> None:
        """A process was started with a copy of its objects, which took long."""
        self._write("pickled", _user_place(sys._getframe()), size=size, seconds=seconds, what=what)

    @_quietly
    def happened(self, kind: str, count: int) -> None:
        """Something that is worth a note when it has happened very often: at which line."""
        if count == AGAIN_AND_AGAIN:
            self._write(kind, _user_place(sys._getframe()), count=count)

    @_quietly
    def overrun(self, iterator: Any, expected: int) -> None:
        """An epoch has more batches than its loader promised: whose fault is that?"""
        sampler = iterator._index_sampler
        inner = getattr(sampler, "sampler", None)
        for one in (inner, sampler):
            code = getattr(getattr(type(one), "__iter__", None), "__code__", None)
            if code is not None and is_users(code):
                place = (code.co_filename, code.co_firstlineno, code.co_qualname)
                self._write("overrun", place, expected=expected, what=type(one).__name__)
                return
        self._write("overrun", _user_place(sys._getframe()), expected=expected, what=type(sampler).__name__)

    def _write(self, kind: str, place: tuple[str, int, str] | None, number: int = 0, **more: object) -> None:
        """Write a note. It replaces an earlier one of its kind and number."""
        told = {"kind": kind, "pid": os.getpid(), "place": list(place) if place else None, **more}
        name = f"{os.getpid()}-{kind}{number or ''}.note"
        words.write(os.path.join(self.folder, name), told)


def _user_place(frame: FrameType | None) -> tuple[str, int, str] | None:
    while frame is not None:
        if is_users(frame.f_code):
            return os.path.abspath(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back
    return None


def is_users(code: CodeType) -> bool:
    """Whether a function is the user's own, not a library's."""
    file = code.co_filename
    return not (file.startswith(("<", *_LIBRARIES)) or "/site-packages/" in file or "/dist-packages/" in file)
