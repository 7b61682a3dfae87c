"""Last words: what ended a process or a batch, written to a file of its own when it happens."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback

from ..flight import layout

MYPY = False
if MYPY:
    from types import TracebackType

    from ..flight.writer import Record

MOST_FRAMES = 40
MOST_TEXT = 2000
MOST_FILES = 20  # of one process: a loop that raises for ever must not fill the disk
_written = [0]


def listen(record: Record, folder: str) -> None:
    """Hear of every exception that nobody catches. An audit hook can't be replaced by the program's own excepthook."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "sys.excepthook":
            for _ in range(3):  # torch's handler for dead workers may raise in the middle of this
                try:
                    record.slots[layout.ENDED] = 2
                    say(record, folder, "uncaught", arguments[2], arguments[3])  # type: ignore[arg-type]
                except Exception:  # noqa: BLE001
                    continue
                return

    sys.addaudithook(hook)


def say(
    record: Record, folder: str, kind: str, error: BaseException | None, trace: TracebackType | None = None
) -> None:
    """Write down an exception, where it came from, and the sample at hand."""
    if error is None or _written[0] >= MOST_FILES:
        return
    _written[0] += 1
    frames = traceback.extract_tb(trace if trace is not None else error.__traceback__)
    slots = record.slots
    sample = slots[layout.SAMPLE]
    is_worker = slots[layout.ROLE] == layout.WORKER
    told = {
        "kind": kind,
        "pid": os.getpid(),
        "number": slots[layout.NUMBER] if is_worker else None,
        "stage": layout.STAGE_NAMES[slots[layout.STAGE]],
        "sample": None if sample == layout.NO_SAMPLE else sample,
        "type": type(error).__name__,
        "message": _text(error),
        "frames": [[one.filename, one.lineno or 0, one.name] for one in list(frames)[-MOST_FRAMES:]],
        "after": [type(one).__name__ + ": " + _text(one) for one in _chain(error)],
        "at": time.time(),
    }
    write(os.path.join(folder, f"{os.getpid()}-{_written[0]}.words"), told)


def exited(folder: str, pid: int, code: int) -> None:
    """Write down how a child ended: its exit code, or minus the signal that killed it."""
    write(os.path.join(folder, f"{pid}-end.words"), {"kind": "exited", "pid": pid, "code": code, "at": time.time()})


def write(path: str, told: dict[str, object]) -> None:
    """Put it into a file of its own, all of it or nothing."""
    text = json.dumps(told)
    with open(path + ".new", "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    os.rename(path + ".new", path)


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MOST_TEXT]
    except Exception:  # noqa: BLE001  the user's own __str__
        return ""


def _chain(error: BaseException) -> list[BaseException]:
    """The exceptions during whose handling this one was raised."""
    found: list[BaseException] = []
    here = error.__cause__ or error.__context__
    while here is not None and here not in found and len(found) < 5:
        found.append(here)
        here = here.__cause__ or here.__context__
    return found
