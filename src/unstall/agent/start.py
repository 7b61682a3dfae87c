"""Opens the flight record of this process, and hooks into torch once the user imports it."""

from __future__ import annotations

import os
import sys

from ..flight import layout
from ..flight.writer import Record
from . import leaving, words
from .hooks import Hooks
from .importing import AfterImport

MYPY = False
if MYPY:
    from collections.abc import Callable

RUN = "UNSTALL_RUN"  # the folder of the run
SUPERVISOR = "UNSTALL_SUPERVISOR"  # the process that may look into this one
_PR_SET_PTRACER = 0x59616D61


def start() -> None:
    """Called once, at the start of Python."""
    folder = os.environ[RUN]
    record = Record()
    allow = _permission()
    if not _is_helper():
        record.open(folder, layout.MAIN)
    hooks = Hooks(record, folder)

    def after_fork() -> None:
        record.forget()
        words.start_anew()
        if allow is not None:
            allow()

    os.register_at_fork(after_in_child=after_fork)
    words.listen(record, folder, leaving.note_kill)
    sys.meta_path.insert(0, AfterImport(hooks.by_module()))


def _is_helper() -> bool:
    """Whether this Python only serves multiprocessing, or starts as one of its workers."""
    return any("multiprocessing" in word for word in getattr(sys, "orig_argv", sys.argv)[1:])


def _permission() -> Callable[[], None] | None:
    """Where the kernel lets only parents look into a process: let the supervisor, too."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as file:
            if file.read().strip() != "1":
                return None
        import ctypes

        libc = ctypes.CDLL(None)
        supervisor = int(os.environ[SUPERVISOR])
    except (OSError, KeyError, ValueError, ImportError):
        return None

    def allow() -> None:
        libc.prctl(_PR_SET_PTRACER, supervisor, 0, 0, 0)

    allow()
    return allow
