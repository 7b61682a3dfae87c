"""Reads what every thread asks of the kernel, several times."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field

import msgspec

from unstall.evidence.threads import Reading, Thread
from unstall.probes import procfs
from unstall.probes.python.memory import ProcessMemory, Region, Unreadable

MOST_THREADS = 256  # of one process
_STACK_BYTES = 16 * 1024


@dataclass
class Watch:
    """The readings of one thread so far."""

    pid: int
    tid: int
    name: str
    readings: list[Reading] = field(default_factory=list)
    stack_pointer: int = 0
    instruction: int = 0


class ThreadWatcher:
    """Watches all threads of some processes."""

    def __init__(self, pids: list[int]) -> None:
        self.pids = pids
        self.watches: dict[int, Watch] = {}
        self.started = time.monotonic()

    def look(self) -> None:
        """Take one reading of every thread."""
        for pid in self.pids:
            for tid in procfs.threads(pid)[:MOST_THREADS]:
                self._look_at(pid, tid)

    def _look_at(self, pid: int, tid: int) -> None:
        found = procfs.stat(pid, tid)
        if found is None:
            return
        watch = self.watches.setdefault(tid, Watch(pid, tid, found.name))
        name, arguments, stack_pointer, instruction = procfs.syscall(pid, tid)
        cpu_s, switches = procfs.cpu(pid, tid)
        watch.stack_pointer, watch.instruction = stack_pointer, instruction
        watch.readings.append(
            Reading(
                at_s=round(time.monotonic() - self.started, 3),
                state=found.state,
                syscall=name,
                arguments=arguments,
                wchan=(procfs.read(f"/proc/{pid}/task/{tid}/wchan") or "").strip("0\n"),
                cpu_s=round(cpu_s, 4),
                switches=switches,
            )
        )

    def finish(self, memories: dict[int, ProcessMemory]) -> tuple[Thread, ...]:
        """The threads with all their readings, and the libraries in which they are blocked."""
        threads = []
        for watch in self.watches.values():
            if watch.tid != watch.pid and procfs.stat(watch.pid, watch.tid) is None and procfs.stat(watch.pid):
                continue  # a thread that has ended; its process lives
            memory = memories.get(watch.pid)
            library, libraries = _libraries(watch, memory) if memory else ("", ())
            last = watch.readings[-1]
            threads.append(
                Thread(
                    pid=watch.pid,
                    tid=watch.tid,
                    name=watch.name,
                    readings=_telling(watch.readings),
                    library=library,
                    libraries=libraries,
                    blocked_s=procfs.blocked_seconds(watch.pid, watch.tid) if last.state != "R" else None,
                    wakes_in_s=_wakes_in(last, memory) if memory else None,
                )
            )
        return tuple(threads)


def _telling(readings: list[Reading]) -> tuple[Reading, ...]:
    """The readings without those between two that say the same: a long watch of a still thread is short."""
    same = [msgspec.structs.replace(one, at_s=0.0) for one in readings]
    return tuple(
        one
        for number, one in enumerate(readings)
        if number in (0, 1, len(readings) - 1) or not same[number - 1] == same[number] == same[number + 1]
    )


def _libraries(watch: Watch, memory: ProcessMemory) -> tuple[str, tuple[str, ...]]:
    """The library that a blocked thread's code is in, and those with return addresses on its stack.

    The stack is searched word by word, not unwound: a word that points into a library's code may be left over
    from an earlier call. So this names suspects; it proves nothing alone.
    """
    if not watch.instruction:
        return "", ()
    try:
        code = [region for region in memory.regions() if "x" in region.perms and region.path.startswith("/")]
        here = _library_at(watch.instruction, code)
        data = memory.read_some(watch.stack_pointer, _STACK_BYTES)
    except Unreadable:
        return "", ()
    names: dict[str, None] = {}
    for (word,) in struct.iter_unpack("<Q", data[: len(data) // 8 * 8]):
        if name := _library_at(word, code):
            names[name] = None
    return here, tuple(names)


def _library_at(address: int, code: list[Region]) -> str:
    for region in code:
        if region.start <= address < region.end:
            return region.path.rsplit("/", 1)[-1]
    return ""


def _wakes_in(last: Reading, memory: ProcessMemory) -> float | None:
    """When the kernel will wake a sleeping thread by itself; None where it has no time limit."""
    arguments = last.arguments
    try:
        if last.syscall == "clock_nanosleep":
            clock = time.CLOCK_REALTIME if arguments[0] == 0 else time.CLOCK_MONOTONIC
            seconds = _timespec(memory, arguments[2])
            return max(0.0, seconds - time.clock_gettime(clock)) if arguments[1] & 1 else seconds
        if last.syscall == "nanosleep":
            return _timespec(memory, arguments[0])
        if last.syscall in ("poll", "epoll_wait", "epoll_pwait"):
            milliseconds: int = arguments[2 if last.syscall == "poll" else 3] & 0xFFFFFFFF
            return None if milliseconds >= 0x80000000 else milliseconds / 1000
        if last.syscall == "select" and arguments[4]:
            seconds, micro = struct.unpack("<qq", memory.read(arguments[4], 16))
            return float(seconds + micro / 1e6)
        if last.syscall in ("ppoll", "pselect6"):
            where = arguments[2 if last.syscall == "ppoll" else 4]
            return _timespec(memory, where) if where else None
        if last.syscall == "futex" and arguments[3]:
            operation = arguments[1] & 0x7F
            seconds = _timespec(memory, arguments[3])
            if operation == 9:  # FUTEX_WAIT_BITSET: an absolute time
                clock = time.CLOCK_REALTIME if arguments[1] & 0x100 else time.CLOCK_MONOTONIC
                return max(0.0, seconds - time.clock_gettime(clock))
            return seconds
    except (Unreadable, IndexError, struct.error):
        return None
    return None


def _timespec(memory: ProcessMemory, address: int) -> float:
    seconds, nanoseconds = struct.unpack("<qq", memory.read(address, 16))
    return float(seconds + nanoseconds / 1e9)
