"""Ends that no exception tells of: a worker that leaves by itself, is killed by our own code, or crashes natively."""

from __future__ import annotations

import os
import sys

from ..flight import layout
from . import words

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from ..flight.writer import Record

MOST_KILLS = 10  # of one process
_FATAL = {1, 2, 3, 4, 6, 7, 8, 9, 11, 14, 15, 24, 25}
_SHUTTING_DOWN = ("torch/utils/data/dataloader.py", "multiprocessing/util.py")
_kills = [0]
_exit = os._exit


def note_kill(record: Record, folder: str, target: int, number: int) -> None:
    """This process is about to send a signal that ends one of the training's own processes."""
    if number not in _FATAL or _kills[0] >= MOST_KILLS or not _is_ours(folder, target):
        return
    frames = words.stack_of(sys._getframe(2))
    if any(file.endswith(_SHUTTING_DOWN) for file, _, _ in frames):
        return
    _kills[0] += 1
    told = {"kind": "killed", **words.who(record), "target": target, "signal": int(number), "frames": frames}
    words.write(os.path.join(folder, f"{os.getpid()}-kill{_kills[0]}.words"), told)


def _is_ours(folder: str, target: int) -> bool:
    """A process with a record, or a child of multiprocessing. An ffmpeg that is stopped after each film is neither."""
    if target <= 0 or target == os.getpid() or os.path.exists(os.path.join(folder, f"{target}.flight")):
        return True
    process = sys.modules.get("multiprocessing.process")
    children = list(getattr(process, "_children", ()))
    return any(getattr(one._popen, "pid", None) == target for one in children)


def left(record: Record, folder: str, frames: list[tuple[str, int, str]], code: object) -> None:
    """A worker leaves though nobody has told it to."""
    slots = record.slots
    sample = slots[layout.SAMPLE]
    told = {
        "kind": "left",
        **words.who(record),
        "code": code if isinstance(code, int) else 0 if code is None else 1,
        "stage": layout.STAGE_NAMES[slots[layout.STAGE]],
        "sample": None if sample == layout.NO_SAMPLE else sample,
        "frames": frames,
    }
    words.write(os.path.join(folder, f"{os.getpid()}-left.words"), told)


def watch_exit(record: Record, folder: str) -> None:
    """In a worker: notice os._exit, which ends a process without any cleaning up."""

    def noted(status: int) -> NoReturn:
        try:
            if record.pid == os.getpid() and not record.slots[layout.ENDED]:
                left(record, folder, words.stack_of(sys._getframe(1)), status)
        except Exception:  # noqa: BLE001
            pass
        _exit(status)

    os._exit = noted


def watch_faults(folder: str) -> Callable[[Any], Any]:
    """Have Python write down the line of a crash in native code, unless the program has asked for that itself.

    It must come after torch's own handlers: ours runs first, then hands over to torch's, which prints its message.
    """

    def watched(set_handlers: Any) -> Any:
        def then_ours() -> None:
            set_handlers()
            try:
                import faulthandler

                if not faulthandler.is_enabled():
                    path = os.path.join(folder, f"{os.getpid()}.fault")
                    faulthandler.enable(open(path, "w"), all_threads=False)  # noqa: SIM115  open until the end
            except Exception:  # noqa: BLE001
                pass

        return then_ours

    return watched
