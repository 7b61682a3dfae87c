"""File locks: flock, and fcntl's record locks, from /proc/locks and fdinfo."""

from __future__ import annotations

import os
import re

from unstall.evidence.locks import Holder, Lock
from unstall.evidence.threads import Thread
from unstall.probes import procfs

Row = dict[str, str]  # one line of /proc/locks
_SETLKW = {7, 38, 14}  # F_SETLKW, F_OFD_SETLKW, F_SETLKW64
_LOCK = re.compile(r"lock:\s+\d+: \w+\s+\w+\s+\w+ -?\d+ ([0-9a-f]+:[0-9a-f]+:\d+) ")


def waits_for_file_lock(thread: Thread) -> bool:
    """Whether a thread is blocked in flock() or a waiting fcntl()."""
    last = thread.last
    if last.syscall == "flock":
        return True
    return last.syscall == "fcntl" and len(last.arguments) > 1 and last.arguments[1] in _SETLKW


def collect(threads: list[Thread]) -> list[Lock]:
    """The file locks that these threads wait for, with their holders anywhere on the machine."""
    locks = []
    rows = procfs.file_locks()
    for thread in threads:
        if waits_for_file_lock(thread):
            mine = _those_in_the_way(thread.pid, rows)
            lock = of_descriptor(thread.pid, thread.last.arguments[0], thread.tid, mine, thread.last.syscall)
            if lock:
                locks.append(lock)
    return locks


def collect_hidden(threads: list[Thread]) -> list[Lock]:
    """The same for threads whose system calls are hidden: /proc/locks names the processes that wait, to everyone."""
    rows = procfs.file_locks()
    hidden = {str(one.pid) for one in threads if one.hidden and one.pid == one.tid}
    locks = []
    for row in rows:
        if row["waits"] and row["pid"] in hidden:
            pid = int(row["pid"])
            major, minor, number = row["inode"].split(":")
            inode = (int(major, 16), int(minor, 16), int(number))
            call = "flock" if row["sort"] == "FLOCK" else "fcntl"
            locks.append(of_inode(inode, _path(pid, inode), pid, _those_in_the_way(pid, rows), call))
    return locks


def _path(pid: int, inode: tuple[int, int, int]) -> str:
    """The name of a file that a process has open, by its inode."""
    for fd in procfs.numbers(f"/proc/{pid}/fd"):
        try:
            found = os.stat(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        if (os.major(found.st_dev), os.minor(found.st_dev), found.st_ino) == inode:
            return procfs.link(f"/proc/{pid}/fd/{fd}") or "?"
    return f"a file that may not be seen (inode {inode[2]})"


def _those_in_the_way(pid: int, rows: list[Row]) -> list[Row]:
    """The locks that a process waits for: a waiter's line has the number of the lock that is in its way."""
    wanted = {row["id"] for row in rows if row["waits"] and row["pid"] == str(pid)}
    return [row for row in rows if row["id"] in wanted and not row["waits"]] or rows


def of_descriptor(pid: int, fd: int, waiter: int | None, rows: list[Row], call: str = "flock") -> Lock | None:
    """The lock on the file behind a descriptor, and who holds it."""
    try:
        found = os.stat(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return None
    path = procfs.link(f"/proc/{pid}/fd/{fd}") or "?"
    return of_inode((os.major(found.st_dev), os.minor(found.st_dev), found.st_ino), path, waiter, rows, call)


def of_inode(
    inode: tuple[int, int, int],
    path: str,
    waiter: int | None,
    rows: list[Row],
    call: str = "flock",
) -> Lock:
    """The locks on a file. One whose taker has ended may live on in an inherited descriptor: fdinfo says whose."""
    name = f"{inode[0]:02x}:{inode[1]:02x}:{inode[2]}"
    sort = "file-lock" if call == "flock" else "record-lock"  # they don't see each other
    wanted = {"FLOCK"} if call == "flock" else {"POSIX", "OFDLCK"}
    mine = [row for row in rows if same_inode(row["inode"], inode) and not row["waits"] and row["sort"] in wanted]
    holders: list[Holder] = []
    for row in mine:
        taker = int(row["pid"])
        if taker > 0 and procfs.stat(taker) is not None and row["sort"] == "POSIX":
            holders.append(Holder(taker, source="/proc/locks"))
            continue
        holders.extend(_descriptor_holders(inode, taker))
    return Lock(
        id=f"{sort}:{name}",
        sort=sort,
        label=f"the file lock on {path}",
        waiters=(waiter,) if waiter else (),
        holders=tuple(holders),
        path=path,
        searched=os.geteuid() == 0 or bool(holders),
    )


def same_inode(text: str, inode: tuple[int, int, int]) -> bool:
    """Whether `08:01:123`, as /proc writes it, is that inode."""
    major, minor, number = text.split(":")
    return (int(major, 16), int(minor, 16), int(number)) == inode


def _descriptor_holders(inode: tuple[int, int, int], taker: int) -> list[Holder]:
    """The process that took the lock, if it lives; else those that inherited the locked descriptor."""
    order = [taker, *(pid for pid in procfs.pids() if pid != taker)] if taker > 0 else procfs.pids()
    holders = []
    for pid in order:
        fd = _locked_descriptor(pid, inode)
        if fd is None and pid == taker and not procfs.numbers(f"/proc/{pid}/fdinfo") and procfs.stat(pid):
            return [Holder(pid, source="/proc/locks")]  # its descriptors may not be read
        if fd is not None:
            source = "/proc/locks" if pid == taker else f"/proc/{pid}/fdinfo/{fd}"
            holders.append(Holder(pid, source=source, fd=fd))
            if pid == taker:
                break
    return holders


def _locked_descriptor(pid: int, inode: tuple[int, int, int]) -> int | None:
    """The descriptor through which a process has a lock on a file."""
    for fd in procfs.numbers(f"/proc/{pid}/fdinfo"):
        text = procfs.read(f"/proc/{pid}/fdinfo/{fd}", 4096) or ""
        if any(same_inode(found, inode) for found in _LOCK.findall(text)):
            return fd
    return None
