"""Writes to stdout, and bears that nobody reads: `unstall explain | head -1` must not end in a traceback."""

from __future__ import annotations

import contextlib
import os
import sys

from unstall.errors import UnstallError


class ClosedOutput(Exception):
    """The reader of stdout went away."""


def emit(text: str) -> None:
    """Write data to stdout now. Characters that the terminal can't show become question marks."""
    if sys.stdout is None:
        raise ClosedOutput
    try:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding, "replace"))
        sys.stdout.write("" if text.endswith("\n") else "\n")
        sys.stdout.flush()
    except BrokenPipeError as error:
        _give_up()
        raise ClosedOutput from error
    except OSError as error:
        _give_up()
        raise UnstallError(f"can't write the output: {error.strerror}") from error


def _give_up() -> None:
    """Point stdout at nothing, so that Python's own flush at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
