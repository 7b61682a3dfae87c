"""Who holds what a thread waits for, and what that process does meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from unstall.evidence.locks import Holder, Lock
from unstall.evidence.processes import Process, Processes
from unstall.evidence.stall import Stall
from unstall.evidence.threads import Thread, Threads
from unstall.model.finding import Confidence, Fact, Location

LONG_SLEEP_S = 60.0
LONGEST_COMMAND = 160


@dataclass(frozen=True)
class Holding:
    """A holder, with what is known about its process."""

    holder: Holder
    process: Process | None
    thread: Thread | None
    is_main: bool = False  # of this training

    @property
    def name(self) -> str:
        """The process in words."""
        if self.is_main:
            return f"the training's own main process ({self.holder.pid})"
        command = " ".join(self.process.command.split())[:LONGEST_COMMAND] if self.process else ""
        return f"process {self.holder.pid} ({command})" if command else f"process {self.holder.pid}"

    @property
    def computes(self) -> bool:
        """It uses the CPU: it may be on its way to the end."""
        return self.thread is not None and self.thread.running

    @property
    def frozen(self) -> bool:
        """It will not let go for a long time: it is stopped, or sleeps for long, or without an end."""
        if self.process is not None and self.process.stopped:
            return True
        if self.thread is None or not self.thread.still or self.thread.running:
            return False
        return self.thread.wakes_in_s is None or self.thread.wakes_in_s > LONG_SLEEP_S

    @property
    def doing(self) -> str:
        """What it does, in words; empty where that was not seen."""
        if self.process is not None and self.process.stopped:
            return "was stopped by a signal"
        if self.thread is None:
            return ""
        if self.thread.running:
            return "is computing"
        if self.is_main and self.thread.wakes_in_s is not None:
            return "waits, and asks again every few seconds"
        if self.thread.wakes_in_s is not None:
            return f"is asleep, and wakes up in {self.thread.wakes_in_s:.0f} s"
        return f"waits in the system call {self.thread.last.syscall}" if self.thread.last.syscall else ""

    def facts(self, label: str) -> tuple[Fact, ...]:
        """That it holds a lock, and what it does."""
        found = [Fact(f"{label} is held by {self.name}", self.holder.source)]
        if self.doing:
            found.append(Fact(f"process {self.holder.pid} {self.doing}", f"/proc/{self.holder.pid}"))
        return tuple(found)


def holdings(stall: Stall, lock: Lock, processes: Processes, threads: Threads) -> list[Holding]:
    """The other processes that hold a lock."""
    return [
        Holding(one, processes.get(one.pid), threads.get(one.pid), one.pid == stall.main_pid)
        for one in lock.holders
        if one.pid != stall.wait.pid
    ]


def certainty(stall: Stall, held: list[Holding], *, gives_up: bool = False) -> Confidence:
    """How sure it is that a lock will not be released soon. `gives_up`: the waiter may have a time limit unseen."""
    if any(one.computes for one in held):
        return Confidence.POSSIBLE
    deadlock = any(one.pid == other.holder.pid for one in stall.cycle for other in held)
    if (deadlock or (held and all(one.frozen for one in held))) and (stall.long or not gives_up):
        return Confidence.CERTAIN
    return Confidence.LIKELY if stall.long else Confidence.POSSIBLE


def place_of_loop(stall: Stall, file: str, line: int) -> tuple[Location, ...]:
    """The header of a loop of the user's in which a stall happens; nothing where it is not on the stack."""
    frames = [one for one in stall.stack.user_frames() if one.file == file] if stall.stack and line else []
    frame = next((one for one in frames if one.first_line <= line <= one.line), None)
    return (stall.at(frame, line),) if frame is not None else ()
