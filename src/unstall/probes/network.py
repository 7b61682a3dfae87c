"""Sockets: their state, their peer, and whose process that is."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from unstall.probes import procfs
from unstall.probes.moment import once_per_look

_STATES = {
    "01": "established", "02": "connecting", "03": "answering", "04": "closing", "05": "closing", "06": "closed",
    "07": "closed", "08": "closed by the peer", "09": "closing", "0A": "listening", "0B": "closing",
}  # fmt: skip


@dataclass(frozen=True)
class SocketRow:
    """One socket of /proc/<pid>/net."""

    protocol: str
    state: str
    local: str
    peer: str
    unread: int
    inode: int


def look_up(pid: int, inode: int) -> SocketRow | None:
    """The socket with that inode in the network namespace of a process."""
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in (procfs.read(f"/proc/{pid}/net/{protocol}", 1 << 24) or "").splitlines()[1:]:
            words = line.split()
            if len(words) > 9 and words[9] == str(inode):
                return _row(protocol, words)
    for line in (procfs.read(f"/proc/{pid}/net/unix", 1 << 24) or "").splitlines()[1:]:
        words = line.split()
        if len(words) > 6 and words[6] == str(inode):
            state = {"01": "listening", "03": "established"}.get(words[5], "open")
            return SocketRow("unix", state, words[7] if len(words) > 7 else "", "", 0, inode)
    return None


def peer_inode(pid: int, row: SocketRow) -> int | None:
    """The inode of the other end, when it is on this machine."""
    if not row.protocol.startswith("tcp") or not row.peer:
        return None
    for protocol in ("tcp", "tcp6"):
        for line in (procfs.read(f"/proc/{pid}/net/{protocol}", 1 << 24) or "").splitlines()[1:]:
            words = line.split()
            if len(words) > 9:
                other = _row(protocol, words)
                if (_plain(other.local), _plain(other.peer)) == (
                    _plain(row.peer),
                    _plain(row.local),
                ) and other.inode:
                    return other.inode
    return None


def unix_listener(pid: int, path: str) -> int | None:
    """The process that listens on a socket file, as seen from the network namespace of a process."""
    for line in (procfs.read(f"/proc/{pid}/net/unix", 1 << 24) or "").splitlines()[1:]:
        words = line.split()
        if len(words) > 7 and words[7] == path and words[3] == "00010000":  # __SO_ACCEPTCON
            return owner(int(words[6]))
    return None


def owner(inode: int) -> int | None:
    """A process that has a socket open."""
    return socket_owners().get(inode)


@once_per_look
def socket_owners() -> dict[int, int]:
    """The first process of each open socket, for the whole machine."""
    found: dict[int, int] = {}
    for pid in procfs.pids():
        for fd in procfs.numbers(f"/proc/{pid}/fd"):
            target = procfs.link(f"/proc/{pid}/fd/{fd}") or ""
            if target.startswith("socket:["):
                found.setdefault(int(target[8:-1]), pid)
    return found


def _plain(address: str) -> str:
    return address.replace("::ffff:", "").strip("[]").replace("]", "")


def _row(protocol: str, words: list[str]) -> SocketRow:
    unread = int(words[4].split(":")[1], 16)
    return SocketRow(
        protocol,
        _STATES.get(words[3], words[3]),
        _address(words[1]),
        _address(words[2]),
        unread,
        int(words[9]),
    )


def _address(text: str) -> str:
    host, port = text.split(":")
    if len(host) == 8:
        name = socket.inet_ntop(socket.AF_INET, struct.pack("<I", int(host, 16)))
    else:
        raw = b"".join(struct.pack("<I", int(host[start : start + 8], 16)) for start in range(0, 32, 8))
        name = socket.inet_ntop(socket.AF_INET6, raw)
    return f"{name}:{int(port, 16)}"
