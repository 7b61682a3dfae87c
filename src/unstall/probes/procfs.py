"""What /proc says, parsed. Every function returns None, or nothing, where the kernel does not answer."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

_X86_64 = {
    0: "read", 1: "write", 2: "open", 7: "poll", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev",
    23: "select", 34: "pause", 35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom",
    46: "sendmsg", 47: "recvmsg", 56: "clone", 57: "fork", 58: "vfork", 61: "wait4", 72: "fcntl", 73: "flock",
    74: "fsync", 75: "fdatasync", 128: "rt_sigtimedwait", 202: "futex", 219: "restart_syscall",
    230: "clock_nanosleep", 232: "epoll_wait", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll",
    281: "epoll_pwait", 288: "accept4", 299: "recvmmsg", 435: "clone3", 437: "openat2", 441: "epoll_pwait2",
    449: "futex_waitv",
}  # fmt: skip
_AARCH64 = {
    63: "read", 64: "write", 65: "readv", 66: "writev", 67: "pread64", 68: "pwrite64", 56: "openat", 73: "ppoll",
    72: "pselect6", 101: "nanosleep", 203: "connect", 202: "accept", 206: "sendto", 207: "recvfrom",
    211: "sendmsg", 212: "recvmsg", 220: "clone", 260: "wait4", 25: "fcntl", 32: "flock", 82: "fsync",
    83: "fdatasync", 98: "futex", 128: "restart_syscall", 115: "clock_nanosleep", 22: "epoll_pwait",
    95: "waitid", 242: "accept4", 435: "clone3", 437: "openat2", 441: "epoll_pwait2", 449: "futex_waitv",
}  # fmt: skip
SYSCALLS = _AARCH64 if platform.machine() in ("aarch64", "arm64") else _X86_64


@dataclass(frozen=True)
class Stat:
    """The fields of /proc/<pid>/stat that are used here."""

    name: str
    state: str
    ppid: int
    group: int
    session: int
    ticks: int
    threads: int
    started: int
    rss_pages: int
    exit_status: int


def read(path: str, limit: int = 1 << 20) -> str | None:
    """The text of a /proc file."""
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return None


def link(path: str) -> str | None:
    """Where a symbolic link points."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def numbers(path: str) -> list[int]:
    """The numeric entries of a folder, in order: pids, threads or descriptors."""
    try:
        return sorted(int(name) for name in os.listdir(path) if name.isdigit())
    except OSError:
        return []


def pids() -> list[int]:
    """All processes."""
    return numbers("/proc")


def threads(pid: int) -> list[int]:
    """The kernel ids of a process's threads."""
    return numbers(f"/proc/{pid}/task")


def stat(pid: int, tid: int | None = None) -> Stat | None:
    """State, parent, CPU time and exit status of a process or thread."""
    text = read(f"/proc/{pid}/stat" if tid is None else f"/proc/{pid}/task/{tid}/stat")
    if not text or ")" not in text:
        return None
    name = text[text.index("(") + 1 : text.rindex(")")]
    rest = text[text.rindex(")") + 2 :].split()
    if len(rest) < 50:
        return None
    return Stat(
        name=name,
        state=rest[0],
        ppid=int(rest[1]),
        group=int(rest[2]),
        session=int(rest[3]),
        ticks=int(rest[11]) + int(rest[12]),
        threads=int(rest[17]),
        started=int(rest[19]),
        rss_pages=int(rest[21]),
        exit_status=int(rest[49]),
    )


def status_field(pid: int, field: str) -> str | None:
    """One line of /proc/<pid>/status."""
    for line in (read(f"/proc/{pid}/status") or "").splitlines():
        if line.startswith(field + ":"):
            return line.split(":", 1)[1].strip()
    return None


def command(pid: int) -> list[str]:
    """The command line, one item per argument."""
    text = read(f"/proc/{pid}/cmdline", 1 << 16)
    return text.rstrip("\0").split("\0") if text else []


def cpu(pid: int, tid: int) -> tuple[float, int]:
    """Seconds on the CPU, and how often it was put there."""
    text = read(f"/proc/{pid}/task/{tid}/schedstat")
    if text:
        run, _, slices = text.split()
        if int(run) or int(slices):
            return int(run) / 1e9, int(slices)
    found = stat(pid, tid)
    switches = sum(
        int(line.split(":")[1])
        for line in (read(f"/proc/{pid}/task/{tid}/status") or "").splitlines()
        if "ctxt_switches" in line
    )
    return (found.ticks / TICKS if found else 0.0), switches


def syscall(pid: int, tid: int) -> tuple[str, tuple[int, ...], int, int]:
    """The system call that a thread is blocked in, its arguments, stack and instruction pointer.

    The name is "running" for a thread on the CPU and "" where the kernel does not say.
    """
    text = read(f"/proc/{pid}/task/{tid}/syscall")
    if not text:
        return "", (), 0, 0
    words = text.split()
    if words[0] == "running":
        return "running", (), 0, 0
    number = int(words[0])
    values = [int(word, 16) for word in words[1:]]
    if number < 0:
        return "none", (), values[0] if values else 0, values[1] if len(values) > 1 else 0
    return SYSCALLS.get(number, f"syscall {number}"), tuple(values[:6]), values[6], values[7]


def blocked_seconds(pid: int, tid: int) -> float | None:
    """How long ago a thread last ran (only on kernels that show it)."""
    mine = _last_ran(f"/proc/{pid}/task/{tid}/sched")
    now = _last_ran("/proc/thread-self/sched")
    if mine is None or now is None:
        return None
    return max(0.0, (now - mine) / 1000)


def _last_ran(path: str) -> float | None:
    for line in (read(path) or "").splitlines():
        if line.startswith("se.exec_start"):
            return float(line.split(":")[1])
    return None


def file_locks() -> list[dict[str, str]]:
    """/proc/locks, one dictionary per line."""
    rows = []
    for line in (read("/proc/locks") or "").splitlines():
        words = line.split()
        waits = "->" in words
        if waits:
            words.remove("->")
        if len(words) >= 8:
            keys = ("id", "sort", "duty", "mode", "pid", "inode", "start", "end")
            rows.append({**dict(zip(keys, words, strict=False)), "waits": "yes" if waits else ""})
    return rows


def uptime() -> float:
    """Seconds since the machine started."""
    return float((read("/proc/uptime") or "0").split()[0])
