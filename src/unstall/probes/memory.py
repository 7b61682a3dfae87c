"""Reads memory, /dev/shm, and the kernel's out-of-memory messages."""

from __future__ import annotations

import os
import re

from unstall.evidence.memory import Memory
from unstall.model.diagnosis import Unexamined
from unstall.probes import procfs

_OOM = re.compile(r"Out of memory|oom-kill|Killed process", re.IGNORECASE)
MOST_MESSAGES = 5


def collect() -> tuple[Memory, list[Unexamined]]:
    """Memory of this machine now."""
    rows = {}
    for line in (procfs.read("/proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        rows[name] = int(rest.split()[0]) * 1024
    messages, unexamined = _kernel_messages()
    size = free = None
    try:
        shm = os.statvfs("/dev/shm")
        size, free = shm.f_frsize * shm.f_blocks, shm.f_frsize * shm.f_bavail
    except OSError:
        pass
    return (
        Memory(
            available_bytes=rows.get("MemAvailable"),
            total_bytes=rows.get("MemTotal"),
            swap_used_bytes=rows.get("SwapTotal", 0) - rows.get("SwapFree", 0),
            shm_size_bytes=size,
            shm_free_bytes=free,
            oom_kills=oom_kills(),
            oom_messages=tuple(messages),
        ),
        unexamined,
    )


def oom_kills() -> int | None:
    """How many processes the kernel has killed for want of memory since this machine started."""
    for line in (procfs.read("/proc/vmstat") or "").splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return None


def _kernel_messages() -> tuple[list[str], list[Unexamined]]:
    """Lines about out-of-memory kills. Reads what is there, and does not wait for more."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return [], [Unexamined("the kernel's messages", error.strerror or "not readable", "run as root to see them")]
    found: list[str] = []
    try:
        while True:
            line = os.read(log, 8192).decode("utf-8", "replace")
            if _OOM.search(line):
                found.append(line.partition(";")[2].splitlines()[0][:200])
    except OSError:
        pass
    finally:
        os.close(log)
    return found[-MOST_MESSAGES:], []


def memory_group(pid: int) -> str | None:
    """The folder of the memory group (cgroup) that a process is in, where it is one with a limit or a count."""
    for line in (procfs.read(f"/proc/{pid}/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return f"/sys/fs/cgroup/memory{path}"
        if controllers == "" and os.path.exists(f"/sys/fs/cgroup{path}/memory.events"):
            return f"/sys/fs/cgroup{path}"
    return None


def group_oom_kills(group: str | None) -> int | None:
    """How many processes of a memory group the kernel has killed for want of memory."""
    for name in ("memory.events", "memory.oom_control"):
        for line in (procfs.read(f"{group}/{name}") or "").splitlines() if group else ():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return None


def group_limit(group: str | None) -> int | None:
    """The most that a memory group may use."""
    for name in ("memory.max", "memory.limit_in_bytes"):
        text = (procfs.read(f"{group}/{name}") or "").strip() if group else ""
        if text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def largest_use(pid: int) -> int | None:
    """The most memory that a process has had in use so far."""
    for line in (procfs.read(f"/proc/{pid}/status") or "").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def killed_for_memory(messages: tuple[str, ...]) -> tuple[int, ...]:
    """The processes that the kernel's messages say it has killed."""
    return tuple(int(one) for text in messages for one in re.findall(r"Killed process (\d+)", text))
