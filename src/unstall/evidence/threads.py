"""Threads, as the kernel sees them, in several readings."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from unstall.model.evidence import Evidence


class Reading(msgspec.Struct, frozen=True, omit_defaults=True):
    """One look at a thread."""

    at_s: float
    state: str
    syscall: str = ""  # name of the call it is blocked in; "" while it runs or where the kernel won't say
    arguments: tuple[int, ...] = ()
    wchan: str = ""
    cpu_s: float = 0.0
    switches: int = 0


class Thread(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thread. Readings are oldest first and never empty."""

    pid: int
    tid: int
    name: str
    readings: Annotated[tuple[Reading, ...], msgspec.Meta(min_length=1)]
    library: str = ""  # the shared library whose code it is blocked in
    libraries: tuple[str, ...] = ()  # libraries whose return addresses stand on its native stack
    blocked_s: float | None = None  # since when it has not run
    wakes_in_s: float | None = None  # when the kernel will wake it: the time-out of its sleep or poll
    native: tuple[str, ...] = ()  # native function names, innermost first

    @property
    def last(self) -> Reading:
        """The newest reading."""
        return self.readings[-1]

    @property
    def hidden(self) -> bool:
        """The kernel does not let us see what it waits for."""
        return not self.last.syscall and self.last.state not in "RTtZX"

    @property
    def settled(self) -> tuple[Reading, ...]:
        """The readings without the first, which may have caught it on its way into the stall."""
        return self.readings[1:] if len(self.readings) > 2 else self.readings

    @property
    def cpu_share(self) -> float:
        """The share of one core that it used between the first and the last reading."""
        first, last = self.settled[0], self.settled[-1]
        seconds = last.at_s - first.at_s
        return (last.cpu_s - first.cpu_s) / seconds if seconds > 0 else 0.0

    @property
    def computed_s(self) -> float:
        """For how long it was on the CPU while it was watched."""
        return self.last.cpu_s - self.readings[0].cpu_s

    @property
    def switched(self) -> int:
        """How often it came to run between the first and the last reading."""
        return self.settled[-1].switches - self.settled[0].switches

    @property
    def running(self) -> bool:
        """It spends its time on the CPU."""
        if len(self.readings) == 1:
            return self.last.state == "R"
        return self.cpu_share > 0.2 or all(one.state == "R" for one in self.settled)

    @property
    def still(self) -> bool:
        """It did not run at all between the first and the last reading. One that has a core for itself never switches."""
        return len(self.readings) > 1 and self.switched == 0 and not self.running

    @property
    def steady(self) -> bool:
        """It is in the same system call, with the same arguments, in every reading."""
        return len({(one.syscall, one.arguments[:2]) for one in self.settled}) == 1


class Threads(Evidence, frozen=True):
    """All threads that were looked at."""

    kind: ClassVar[str] = "threads"

    all: tuple[Thread, ...] = ()
    span_s: float = 0.0

    def get(self, tid: int) -> Thread | None:
        """The thread with that kernel id."""
        return next((thread for thread in self.all if thread.tid == tid), None)

    def of(self, pid: int) -> tuple[Thread, ...]:
        """The threads of a process."""
        return tuple(thread for thread in self.all if thread.pid == pid)
