"""The hooks on what starts ranks: which rank a process is, and how each of them ends."""

from __future__ import annotations

import functools
import os
import sys

from ..flight import layout
from . import words

MYPY = False
if MYPY:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from ..flight.writer import Record


class RankHooks:
    """The hooks of one process."""

    def __init__(self, record: Record, folder: str) -> None:
        self.record = record
        self.folder = folder

    def by_module(self) -> dict[str, Callable[[ModuleType], None]]:
        """The hook for each module, to be run when that has been imported."""
        return {
            "torch.distributed.distributed_c10d": self.groups,
            "torch.multiprocessing.spawn": self.spawned,
            "subprocess": self.programs,
        }

    def groups(self, module: ModuleType) -> None:
        """A process that joins others has a record, with its number."""
        record, folder, join = self.record, self.folder, module.init_process_group

        @functools.wraps(join)
        def init_process_group(*arguments: Any, **options: Any) -> Any:
            found = join(*arguments, **options)
            try:
                record.open(folder, layout.MAIN)
                record.slots[layout.RANK] = module.get_rank() + 1
                record.slots[layout.WORLD] = module.get_world_size()
            except Exception:  # noqa: BLE001
                pass
            return found

        module.init_process_group = init_process_group  # type: ignore[attr-defined]

    def spawned(self, module: ModuleType) -> None:
        """torch's `spawn` hands the exception of a rank to its parent as a text: say what it was."""
        record, folder, wrap = self.record, self.folder, module._wrap

        @functools.wraps(wrap)
        def _wrap(function: Any, number: int, *rest: Any) -> Any:
            @functools.wraps(function)
            def noted(*arguments: Any, **options: Any) -> Any:
                try:
                    return function(*arguments, **options)
                except Exception:
                    try:
                        record.slots[layout.ENDED] = 2
                        words.say(record, folder, "uncaught", sys.exc_info()[1])
                    except Exception:  # noqa: BLE001
                        pass
                    raise

            try:
                record.open(folder, layout.MAIN)
            except Exception:  # noqa: BLE001
                pass
            return wrap(noted, number, *rest)

        module._wrap = _wrap  # type: ignore[attr-defined]

    def programs(self, module: ModuleType) -> None:
        """How each Python that was started as a program ended: a launcher's ranks are such ones."""
        folder, handle = self.folder, module.Popen._handle_exitstatus

        @functools.wraps(handle)
        def noted(self: Any, *arguments: Any, **options: Any) -> Any:
            found = handle(self, *arguments, **options)
            try:
                if is_rank(folder, self.pid):
                    words.exited(folder, self.pid, self.returncode, "rank")
            except Exception:  # noqa: BLE001
                pass
            return found

        module.Popen._handle_exitstatus = noted


def is_rank(folder: str, pid: int) -> bool:
    """Whether a process has a record as the main process of a rank."""
    try:
        with open(os.path.join(folder, f"{pid}.flight"), "rb") as file:
            slots = memoryview(file.read(8 * (layout.WORLD + 1))).cast("q")
    except (OSError, TypeError):
        return False
    return len(slots) > layout.WORLD and slots[layout.ROLE] == layout.MAIN and slots[layout.RANK] > 0
