"""Memory: of the machine, of /dev/shm, and what the kernel killed for want of it."""

from __future__ import annotations

from typing import ClassVar

from unstall.model.evidence import Evidence


class Memory(Evidence, frozen=True):
    """Memory at one moment."""

    kind: ClassVar[str] = "memory"

    available_bytes: int | None = None
    total_bytes: int | None = None
    swap_used_bytes: int | None = None
    shm_size_bytes: int | None = None
    shm_free_bytes: int | None = None
    oom_kills: int | None = None
    oom_messages: tuple[str, ...] = ()
