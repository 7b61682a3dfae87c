"""Last words: what ended a process or a batch, written to a file of its own when it happens."""

from __future__ import annotations

import json
import os
import sys
import time

from ..flight import layout
from . import failing

MYPY = False
if MYPY:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from ..flight.writer import Record

    Frames = list[tuple[str, int, str]]

OUTERMOST, INNERMOST = 15, 25  # frames that are kept of a traceback
REPEATED = 50  # a function that stands so often in one traceback calls itself without an end
MOST_TEXT = 1500  # of a message, from either end
MOST_FILES = 20  # of one process: a loop that raises for ever must not fill the disk
_TOO_MANY_FILES = 24
_OURS = os.path.dirname(os.path.abspath(__file__))
handed_over = [""]  # the name of what a worker had said of the exception that it handed over to this process last
_written = [0]
_spare: list[tuple[int, int, int]] = []  # a descriptor to give back when there are no more, and what it is


def listen(record: Record, folder: str, on_kill: Callable[[Record, str, int, int], None]) -> None:
    """Hear of every exception that nobody catches, and of signals that are sent.

    An audit hook can't be replaced by the program's own excepthook.
    """
    _keep_spare(folder)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "sys.excepthook":
            for _ in range(3):  # torch's handler for dead workers may raise in the middle of this
                try:
                    record.slots[layout.ENDED] = 2
                    error: BaseException = arguments[2]  # type: ignore[assignment]
                    say(record, folder, "uncaught", error, arguments[3])  # type: ignore[arg-type]
                    leave_no_trace(error)
                except Exception:  # noqa: BLE001
                    continue
                return
        elif event == "os.kill":
            try:
                on_kill(record, folder, arguments[0], arguments[1])  # type: ignore[arg-type]
            except Exception:  # noqa: BLE001
                pass

    sys.addaudithook(hook)


def start_anew() -> None:
    """This process is a fork: what its parent has written is not counted."""
    _written[0] = 0


def say(record: Record, folder: str, kind: str, error: BaseException | None, trace: TracebackType | None = None) -> str:
    """Write down an exception, where it came from, and the sample at hand. Answers the name of what was written."""
    if error is None or _written[0] >= MOST_FILES:
        return ""
    _written[0] += 1
    frames = frames_of(trace if trace is not None else error.__traceback__)
    slots = record.slots
    sample = slots[layout.SAMPLE]
    told: dict[str, object] = {
        "kind": kind,
        "name": f"{os.getpid()}-{_written[0]}",
        "handed_over": handed_over[0],
        **who(record),
        "stage": layout.STAGE_NAMES[slots[layout.STAGE]],
        "sample": None if sample == layout.NO_SAMPLE else sample,
        "type": type(error).__name__,
        "message": _text(error),
        "frames": _shortened(frames),
        "repeated": _repeated(frames),
        "earlier": [_earlier(one, deliberate) for one, deliberate in _chain(error)],
    }
    for one in (error, *(before for before, _ in _chain(error))):
        told.update(failing.known(one) or {})
    try:
        told.update(failing.circumstances(error, kind))
    except Exception:  # noqa: BLE001  the rest is worth more
        pass
    write(os.path.join(folder, f"{told['name']}.words"), told)
    return str(told["name"])


def who(record: Record) -> dict[str, object]:
    """Which process speaks."""
    slots = record.slots
    is_worker = slots[layout.ROLE] == layout.WORKER
    return {"pid": os.getpid(), "number": slots[layout.NUMBER] if is_worker else None, "at": time.time()}


def exited(folder: str, pid: int, code: int, name: str) -> None:
    """Write down how a child ended: its exit code, or minus the signal that killed it."""
    told = {"kind": "exited", "pid": pid, "code": code, "name": name, "at": time.time()}
    write(os.path.join(folder, f"{pid}-end.words"), told)


def frames_of(trace: TracebackType | None) -> Frames:
    """File, line and function of each frame of a traceback, outermost first, without our own."""
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            found.append((code.co_filename, trace.tb_lineno or 0, code.co_name))
        trace = trace.tb_next
    return found


def stack_of(frame: FrameType | None) -> Frames:
    """The same of a running frame."""
    found = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_OURS):
            found.append((code.co_filename, frame.f_lineno or 0, code.co_name))
        if code.co_name == "_bootstrap" and code.co_filename.endswith("multiprocessing/process.py"):
            break  # below stands what the parent was at when it forked
        frame = frame.f_back
    return found[::-1][-INNERMOST:]


def leave_no_trace(error: BaseException) -> None:
    """Take our hooks out of the tracebacks of an exception that is about to be printed."""
    for one in (error, *(before for before, _ in _chain(error))):
        trace = one.__traceback__
        while trace is not None:
            below = trace.tb_next
            while below is not None and below.tb_frame.f_code.co_filename.startswith(_OURS):
                below = below.tb_next
            if below is not trace.tb_next:
                trace.tb_next = below
            trace = below


def write(path: str, told: dict[str, object]) -> None:
    """Write one file, all of it or nothing. Where no descriptor is left, the spare one is used."""
    text = json.dumps(told)
    try:
        file = open(path + ".new", "w", encoding="utf-8", errors="replace")  # noqa: SIM115
    except OSError as error:
        if error.errno != _TOO_MANY_FILES or not _give_spare_back():
            raise
        file = open(path + ".new", "w", encoding="utf-8", errors="replace")  # noqa: SIM115
    with file:
        file.write(text)
    os.rename(path + ".new", path)
    _keep_spare(os.path.dirname(path))


def _keep_spare(folder: str) -> None:
    if not _spare:
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            found = os.fstat(descriptor)
            _spare.append((descriptor, found.st_dev, found.st_ino))
        except OSError:
            pass


def _give_spare_back() -> bool:
    """Close the spare descriptor, if its number still is ours: the program may have closed all and opened others."""
    if not _spare:
        return False
    descriptor, device, inode = _spare.pop()
    try:
        found = os.fstat(descriptor)
        if (found.st_dev, found.st_ino) != (device, inode):
            return False
        os.close(descriptor)
    except OSError:
        return False
    return True


def _shortened(frames: Frames) -> Frames:
    return frames if len(frames) <= OUTERMOST + INNERMOST else frames[:OUTERMOST] + frames[-INNERMOST:]


def _repeated(frames: Frames) -> list[object] | None:
    """The frame that stands most often in a traceback, and how often, if that is very often."""
    counts: dict[tuple[str, int, str], int] = {}
    for one in frames:
        counts[one] = counts.get(one, 0) + 1
    most = max(counts, key=lambda one: counts[one], default=None)
    return [*most, counts[most]] if most is not None and counts[most] >= REPEATED else None


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  the user's own __str__
        return ""
    return text if len(text) <= 2 * MOST_TEXT else f"{text[:MOST_TEXT]}\n…\n{text[-MOST_TEXT:]}"


def _earlier(error: BaseException, deliberate: bool) -> dict[str, object]:
    return {
        "type": type(error).__name__,
        "message": _text(error),
        "frames": _shortened(frames_of(error.__traceback__)),
        "deliberate": deliberate,
    }


def _chain(error: BaseException) -> list[tuple[BaseException, bool]]:
    """The exceptions that this one was raised from, or during whose handling; whether that was said by `from`."""
    found: list[tuple[BaseException, bool]] = []
    here: BaseException | None = error
    while here is not None and len(found) < 5:
        cause, hidden = here.__cause__, here.__suppress_context__
        before = cause if cause is not None else (None if hidden else here.__context__)
        if before is None or any(before is one for one, _ in found):
            break
        found.append((before, cause is not None))
        here = before
    return found
