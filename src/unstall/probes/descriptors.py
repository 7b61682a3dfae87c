"""What blocked threads wait on: pipes, FIFOs, sockets, files, terminals, and who is at the other end."""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import re
import stat as modes
import termios

from unstall.evidence.descriptors import Descriptor, Descriptors, End, Opening
from unstall.evidence.threads import Thread
from unstall.model.diagnosis import Unexamined
from unstall.probes import network, procfs
from unstall.probes.moment import ask_anew
from unstall.probes.python.memory import ProcessMemory, Unreadable

_FIRST_IS_FD = {
    "read", "write", "readv", "writev", "pread64", "pwrite64", "recvfrom", "recvmsg", "sendto", "sendmsg",
    "connect", "accept", "accept4", "fsync", "fdatasync", "flock", "fcntl", "recvmmsg",
}  # fmt: skip
_OPEN = {"open": 0, "openat": 1, "openat2": 1}
_EPOLLS = {"epoll_wait", "epoll_pwait", "epoll_pwait2"}
_TARGET = re.compile(r"^tfd:\s+(\d+)", re.MULTILINE)
MOST_POLLED = 16


class DescriptorProbe:
    """Looks at the descriptors of blocked threads, each once."""

    def __init__(self, memories: dict[int, ProcessMemory]) -> None:
        self.memories = memories
        ask_anew(network.socket_owners)  # connections come and go between two looks
        self.unexamined: list[Unexamined] = []
        self._ends: dict[int, tuple[list[End], list[End]]] | None = None

    def collect(self, threads: list[Thread]) -> Descriptors:
        """The descriptors and openings that these threads wait on."""
        found: dict[tuple[int, int], Descriptor] = {}
        openings = []
        waits: dict[int, tuple[int, ...]] = {}
        for thread in threads:
            if thread.last.syscall in _OPEN:
                opening = self._opening(thread)
                if opening:
                    openings.append(opening)
            fds = self.waited_on(thread)
            if fds:
                waits[thread.tid] = tuple(fds)
            for fd in fds:
                if (thread.pid, fd) not in found:
                    descriptor = self.describe(thread.pid, fd)
                    if descriptor is None and _went_on(thread):
                        descriptor = Descriptor(thread.pid, fd, "closed", "a descriptor that was closed meanwhile")
                    if descriptor:
                        found[thread.pid, fd] = descriptor
        return Descriptors(tuple(found.values()), tuple(openings), waits=waits)

    def waited_on(self, thread: Thread) -> list[int]:
        """The descriptors that a thread is blocked on."""
        last = thread.last
        if not last.arguments:
            return []
        if last.syscall in _FIRST_IS_FD:
            return [last.arguments[0] & 0xFFFFFFFF]
        if last.syscall in ("poll", "ppoll"):
            return self._polled(thread)
        if last.syscall in ("select", "pselect6"):
            return self._selected(thread)
        if last.syscall in _EPOLLS:
            return _registered(thread.pid, last.arguments[0] & 0xFFFFFFFF)
        return []

    def _polled(self, thread: Thread) -> list[int]:
        memory = self.memories.get(thread.pid)
        address, count = thread.last.arguments[0], min(thread.last.arguments[1], MOST_POLLED)
        if memory is None or not count:
            return []
        try:
            data = memory.read(address, 8 * count)
        except Unreadable:
            return []
        return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 8)]

    def _selected(self, thread: Thread) -> list[int]:
        """The descriptors in the set of select() that are waited for to be readable."""
        memory = self.memories.get(thread.pid)
        count, address = min(thread.last.arguments[0], 1024), thread.last.arguments[1]
        if memory is None or not address:
            return []
        try:
            bits = int.from_bytes(memory.read(address, (count + 63) // 64 * 8), "little")
        except Unreadable:
            return []
        return [fd for fd in range(count) if bits >> fd & 1][:MOST_POLLED]

    def describe(self, pid: int, fd: int) -> Descriptor | None:
        """One descriptor of one process."""
        target = procfs.link(f"/proc/{pid}/fd/{fd}")
        if target is None:
            return None
        if target.startswith("socket:["):
            return _socket(pid, fd, int(target[8:-1]))
        try:
            found = os.stat(f"/proc/{pid}/fd/{fd}")
        except OSError:
            return Descriptor(pid, fd, "other", target, target)
        if modes.S_ISFIFO(found.st_mode):
            return self._pipe(pid, fd, target, found.st_ino)
        if target.startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
            return Descriptor(pid, fd, "terminal", f"the terminal {target}", target)
        if modes.S_ISREG(found.st_mode) or modes.S_ISDIR(found.st_mode):
            return Descriptor(pid, fd, "file", f"the file {target}", target, filesystem=filesystem_of(pid, target))
        sort = "null" if target == "/dev/null" else target.removeprefix("anon_inode:").strip("[]")
        return Descriptor(pid, fd, sort if sort in ("eventfd", "null") else "other", target, target)

    def _pipe(self, pid: int, fd: int, target: str, inode: int) -> Descriptor:
        readers, writers = self._pipe_ends().get(inode, ([], []))
        named = not target.startswith("pipe:")
        # Opening a FIFO could wake somebody who waits for a partner, so only a nameless pipe is looked into.
        waiting, capacity = (None, None) if named else _pipe_fill(pid, fd)
        return Descriptor(
            pid,
            fd,
            "fifo" if named else "pipe",
            f"the FIFO {target}" if named else f"a pipe ({target.removeprefix('pipe:').strip('[]')})",
            target if named else "",
            tuple(readers),
            tuple(writers),
            waiting,
            capacity,
        )

    def _pipe_ends(self) -> dict[int, tuple[list[End], list[End]]]:
        """Every open end of every pipe on the machine, as far as it can be seen."""
        if self._ends is not None:
            return self._ends
        self._ends = {}
        hidden = 0
        for pid in procfs.pids():
            if not os.access(f"/proc/{pid}/fd", os.R_OK):
                hidden += 1
                continue
            for fd in procfs.numbers(f"/proc/{pid}/fd"):
                target = procfs.link(f"/proc/{pid}/fd/{fd}") or ""
                inode = _pipe_inode(pid, fd, target)
                if inode is None:
                    continue
                readers, writers = self._ends.setdefault(inode, ([], []))
                try:
                    mode = os.lstat(f"/proc/{pid}/fd/{fd}").st_mode
                except OSError:  # closed meanwhile
                    continue
                if mode & 0o400:
                    readers.append(End(pid, fd))
                if mode & 0o200:
                    writers.append(End(pid, fd))
        if hidden and os.geteuid() != 0:
            self.unexamined.append(
                Unexamined(
                    f"the open files of {hidden} processes",
                    "they belong to other users",
                    "run as root to see who is at the other end of every pipe",
                )
            )
        return self._ends

    def _opening(self, thread: Thread) -> Opening | None:
        memory = self.memories.get(thread.pid)
        if memory is None:
            return None
        try:
            path = memory.cstring(thread.last.arguments[_OPEN[thread.last.syscall]], 4096)
        except Unreadable:
            return None
        name = path if isinstance(path, str) else bytes(path).decode("utf-8", "replace")
        full = name if name.startswith("/") else os.path.join(procfs.link(f"/proc/{thread.pid}/cwd") or "", name)
        try:
            mode = os.stat(f"/proc/{thread.pid}/root{full}").st_mode
            sort = "fifo" if modes.S_ISFIFO(mode) else "file" if modes.S_ISREG(mode) else "other"
        except OSError:
            sort = "missing"
        others = [pid for pid in procfs.pids() if pid != thread.pid and _has_open(pid, full)] if sort == "fifo" else []
        return Opening(thread.tid, full, sort, filesystem_of(thread.pid, full), tuple(others))


def _went_on(thread: Thread) -> bool:
    """It is not in the system call any more in which it was last seen."""
    name, arguments, *_ = procfs.syscall(thread.pid, thread.tid)
    return (name, arguments) != (thread.last.syscall, thread.last.arguments)


def _registered(pid: int, epoll: int) -> list[int]:
    """The connections that an epoll descriptor watches; the descriptor itself where there are none.

    An event loop also watches a socket pair by which it wakes itself: that is not what it waits for.
    """
    watched = [int(one) for one in _TARGET.findall(procfs.read(f"/proc/{pid}/fdinfo/{epoll}") or "")]
    connections = []
    for fd in watched[:MOST_POLLED]:
        target = procfs.link(f"/proc/{pid}/fd/{fd}") or ""
        row = network.look_up(pid, int(target[8:-1])) if target.startswith("socket:[") else None
        if row is not None and row.protocol != "unix":
            connections.append(fd)
    return connections or [epoll]


def _has_open(pid: int, path: str) -> bool:
    return any(procfs.link(f"/proc/{pid}/fd/{fd}") == path for fd in procfs.numbers(f"/proc/{pid}/fd"))


def _pipe_inode(pid: int, fd: int, target: str) -> int | None:
    if target.startswith("pipe:["):
        return int(target[6:-1])
    if target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/sys/", "/memfd")):
        with contextlib.suppress(OSError):
            found = os.stat(f"/proc/{pid}/fd/{fd}")
            return found.st_ino if modes.S_ISFIFO(found.st_mode) else None
    return None


def _pipe_fill(pid: int, fd: int) -> tuple[int | None, int | None]:
    """Bytes that wait in a pipe, and how many fit. Looks through a descriptor of its own: takes nothing out."""
    try:
        mine = os.open(f"/proc/{pid}/fd/{fd}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None, None
    try:
        waiting = array.array("i", [0])
        fcntl.ioctl(mine, termios.FIONREAD, waiting)
        return waiting[0], fcntl.fcntl(mine, fcntl.F_GETPIPE_SZ)
    except OSError:
        return None, None
    finally:
        os.close(mine)


def _socket(pid: int, fd: int, inode: int) -> Descriptor:
    row = network.look_up(pid, inode)
    if row is None:
        return Descriptor(pid, fd, "socket", f"a socket ({inode})")
    other = network.unix_peer(pid, inode) if row.protocol == "unix" else network.peer_inode(pid, row)
    ends = network.ends(other) if other and row.protocol == "unix" else ()
    peer_pid = network.owner(other) if other and not ends else None
    if ends:  # both ends may be open in one process: look for another one
        peer_pid = next((one.pid for one in ends if one.pid != pid), pid)
    label = f"a connection to {row.peer}" if row.peer else f"a {row.protocol} socket {row.local}".rstrip()
    return Descriptor(
        pid,
        fd,
        "socket",
        label,
        protocol=row.protocol,
        state=row.state,
        local=row.local,
        peer=row.peer,
        peer_pid=peer_pid,
        writers=ends,
        waiting_bytes=row.unread,
    )


def filesystem_of(pid: int, path: str) -> str:
    """The mount that a path is on: `nfs4 server:/export on /data`."""
    best = ("", "")
    for line in (procfs.read(f"/proc/{pid}/mountinfo", 1 << 22) or "").split("\n"):
        left, _, right = line.partition(" - ")
        if not right:
            continue
        where = left.split()[4]
        kind, source = right.split()[:2]
        inside = path == where or path.startswith(where.rstrip("/") + "/")
        if inside and len(where) >= len(best[0]):
            best = (where, f"{kind} {source} on {where}")
    return best[1]
