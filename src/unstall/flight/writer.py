"""Writes beats. Whatever goes wrong, the training goes on: then they go nowhere."""

from __future__ import annotations

import mmap
import os

from . import layout


class Record:
    """The slots of this process. Until `open` they are ordinary memory that nobody reads."""

    def __init__(self) -> None:
        self.slots = memoryview(bytearray(layout.SIZE)).cast("q")
        self.pid = 0

    def open(self, folder: str, role: int, number: int = -1) -> None:
        """Put the slots into a file of this process; what was counted so far by a parent is not ours."""
        pid = os.getpid()
        if self.pid == pid:
            return
        self.forget()
        try:
            descriptor = os.open(os.path.join(folder, f"{pid}.flight"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, layout.SIZE)  # a page without a block on a full disk is a SIGBUS
                self.slots = memoryview(mmap.mmap(descriptor, layout.SIZE)).cast("q")
            finally:
                os.close(descriptor)
        except OSError:
            pass  # the disk is full or gone
        slots = self.slots
        self.pid = pid
        slots[layout.SAMPLE] = layout.NO_SAMPLE
        slots[layout.PID], slots[layout.PARENT] = pid, os.getppid()
        slots[layout.ROLE], slots[layout.NUMBER] = role, number
        slots[layout.RANK], slots[layout.WORLD] = _rank()
        slots[layout.HEADER] = layout.MAGIC

    def forget(self) -> None:
        """Write to nowhere from now on: this process is a fork, and the file is its parent's."""
        self.slots = memoryview(bytearray(layout.SIZE)).cast("q")
        self.pid = 0


def _rank() -> tuple[int, int]:
    """The number, plus one, and the world size that a launcher has given."""
    try:
        return int(os.environ["RANK"]) + 1, int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        return 0, 0
