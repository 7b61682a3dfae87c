"""Processes: the tree of the training, and strangers that hold something it needs."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence


class Process(msgspec.Struct, frozen=True):
    """One process, as /proc shows it."""

    pid: int
    ppid: int
    name: str
    command: str
    state: str
    python: str | None = None
    stranger: bool = False  # not in the training's tree
    age_s: float | None = None
    exit_code: int | None = None
    exit_signal: int | None = None
    tracer: int = 0
    rss_bytes: int = 0
    threads: int = 1

    @property
    def dead(self) -> bool:
        """It has ended, though its parent may not have noticed."""
        return self.state in "ZX"

    @property
    def fetches(self) -> bool:
        """It is a worker of torch's loader: torch names them so."""
        return self.name == "pt_data_worker"

    @property
    def stopped(self) -> bool:
        """It was stopped by a signal or a debugger."""
        return self.state in "Tt"


class Processes(Evidence, frozen=True):
    """Every process of the training, root first."""

    kind: ClassVar[str] = "processes"

    root: int
    all: tuple[Process, ...] = ()

    def get(self, pid: int) -> Process | None:
        """The process with that pid."""
        return next((process for process in self.all if process.pid == pid), None)

    def children(self, pid: int) -> tuple[Process, ...]:
        """The children of a process, strangers left out."""
        return tuple(one for one in self.all if one.ppid == pid and not one.stranger)

    def forked_from(self, pid: int) -> Process | None:
        """The parent, if the process is a fork of it that runs the same program on."""
        process = self.get(pid)
        parent = self.get(process.ppid) if process else None
        if process is None or parent is None or parent.stranger or process.command != parent.command:
            return None
        return parent if "multiprocessing." not in parent.command else None

    @property
    def ended(self) -> bool:
        """The training itself has ended."""
        root = self.get(self.root)
        return root is None or root.dead
