"""Notes: rare things that a training loop did, with the line of the user's code that did them. Each is written once or a few times."""

from __future__ import annotations

import functools
import os
import sys

from . import words

MYPY = False
if MYPY:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

OFTEN = (4, 8, 16)  # iterators made: then it is worth a note where that happens
AGAIN_AND_AGAIN = 200  # empty epochs, or calls after the end of one
_LIBRARIES = (os.path.dirname(os.__file__), os.path.dirname(os.path.abspath(__file__)))


def _quietly(note: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(note)
    def noted(*arguments: Any) -> None:
        try:
            note(*arguments)
        except Exception:  # noqa: BLE001  a note is not worth an error in the training
            pass

    return noted


class Notes:
    """The notes of one process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.made: dict[tuple[str, int, str], int] = {}

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
            if code is not None and _is_users(code):
                place = (code.co_filename, code.co_firstlineno, code.co_qualname)
                self._write("overrun", place, expected=expected, what=type(one).__name__)
                return
        self._write("overrun", _user_place(sys._getframe()), expected=expected, what=type(sampler).__name__)

    def _write(self, kind: str, place: tuple[str, int, str] | None, **more: object) -> None:
        told = {"kind": kind, "pid": os.getpid(), "place": list(place) if place else None, **more}
        words.write(os.path.join(self.folder, f"{os.getpid()}-{kind}.note"), told)


def _user_place(frame: FrameType | None) -> tuple[str, int, str] | None:
    while frame is not None:
        if _is_users(frame.f_code):
            return os.path.abspath(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_qualname
        frame = frame.f_back
    return None


def _is_users(code: CodeType) -> bool:
    file = code.co_filename
    return not (file.startswith(("<", *_LIBRARIES)) or "/site-packages/" in file or "/dist-packages/" in file)
