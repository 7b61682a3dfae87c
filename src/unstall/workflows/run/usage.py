"""What a training uses of memory and of /dev/shm while it runs: after its end nobody can tell any more."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from unstall.evidence.endings import Growth, Place, Resources
from unstall.probes import memory
from unstall.probes.python.memory import Unreadable
from unstall.probes.stacks import StackSampler

MUCH_BYTES = 96 << 20  # in one tick
MOST_LOOKS = 100  # in one run


@dataclass
class Usage:
    """Noted at every tick."""

    largest: dict[int, int] = field(default_factory=dict)  # bytes of memory, by process
    shm_size: int | None = None
    shm_least_free: int | None = None
    group: str | None = None
    kills_before: int | None = None
    growth: dict[int, tuple[Place, ...]] = field(default_factory=dict)
    looks: int = 0

    def note(self, pid: int, others: Iterable[int]) -> None:
        """Look at the main process and those that have records."""
        group = memory.memory_group(pid)
        if group is not None and group != self.group:  # a training may be put into another one after its start
            self.group, self.kills_before = group, memory.group_oom_kills(group)
        for one in {pid, *others}:
            found = memory.largest_use(one)
            if found is not None:
                if one != pid and found - self.largest.get(one, found) >= MUCH_BYTES and self.looks < MOST_LOOKS:
                    self.looks += 1
                    self.growth[one] = _places_of(one)
                self.largest[one] = found
        with contextlib.suppress(OSError):
            shm = os.statvfs(f"/proc/{pid}/root/dev/shm")
            free = shm.f_frsize * shm.f_bavail
            self.shm_size = shm.f_frsize * shm.f_blocks
            self.shm_least_free = free if self.shm_least_free is None else min(free, self.shm_least_free)

    def resources(self, messages: tuple[str, ...]) -> Resources:
        """All of it, as evidence."""
        kills = memory.group_oom_kills(self.group)
        return Resources(
            shm_size_bytes=self.shm_size,
            shm_least_free_bytes=self.shm_least_free,
            group_oom_kills=None if kills is None or self.kills_before is None else kills - self.kills_before,
            group_limit_bytes=memory.group_limit(self.group),
            oom_killed=memory.killed_for_memory(messages),
            growth=tuple(Growth(pid, places) for pid, places in self.growth.items() if places),
        )


def _places_of(pid: int) -> tuple[Place, ...]:
    """Where the main thread of a process is now, outermost first. Reads its memory, and does not stop it."""
    try:
        sampler = StackSampler([pid])
        try:
            frames = next((one.frames for one in sampler.look() if one.tid == pid), ())
            return tuple(Place(one.file, one.line, one.function, one.user) for one in reversed(frames))
        finally:
            for interpreter in sampler.interpreters.values():
                interpreter.close()
    except (OSError, Unreadable):
        return ()
