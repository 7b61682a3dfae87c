"""Sockets: their state, their peer, and whose process that is."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from unstall.evidence.descriptors import End
from unstall.probes import procfs
from unstall.probes.moment import once_per_look

_SOCK_DIAG = 4  # NETLINK_SOCK_DIAG

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
    listener = None
    for protocol in ("tcp", "tcp6"):
        for line in (procfs.read(f"/proc/{pid}/net/{protocol}", 1 << 24) or "").splitlines()[1:]:
            words = line.split()
            if len(words) > 9:
                other = _row(protocol, words)
                if other.state == "listening" and _listens_for(other.local, row.peer):
                    listener = other.inode  # it has not accepted the connection yet
                if (_plain(other.local), _plain(other.peer)) == (
                    _plain(row.peer),
                    _plain(row.local),
                ) and other.inode:
                    return other.inode
    return listener if _is_local(row) else None


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


def ends(inode: int) -> tuple[End, ...]:
    """Every process that has a socket open, with its descriptor."""
    return tuple(
        End(pid, fd)
        for pid in procfs.pids()
        for fd in procfs.numbers(f"/proc/{pid}/fd")
        if procfs.link(f"/proc/{pid}/fd/{fd}") == f"socket:[{inode}]"
    )


def unix_peer(pid: int, inode: int) -> int | None:
    """The inode of the other end of a local socket. The kernel tells it only for one's own network namespace."""
    if procfs.link(f"/proc/{pid}/ns/net") != procfs.link("/proc/self/ns/net"):
        return None
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.settimeout(1.0)
            request = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, 0xFFFFFFFF, inode, 4, 0xFFFFFFFF, 0xFFFFFFFF)
            kernel.send(struct.pack("=IHHII", 16 + len(request), 20, 1, 1, 0) + request)
            return _peer_in(kernel.recv(1 << 16))
    except OSError:
        return None


def _peer_in(answer: bytes) -> int | None:
    """The attribute UNIX_DIAG_PEER of an answer."""
    length, sort = struct.unpack_from("=IH", answer)
    at = 32  # behind the netlink header and unix_diag_msg
    while sort == 20 and at + 4 <= min(length, len(answer)):
        size, name = struct.unpack_from("=HH", answer, at)
        if name == 2:
            return int(struct.unpack_from("=I", answer, at + 4)[0])
        at += max(4, (size + 3) & ~3)
    return None


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


def _listens_for(local: str, peer: str) -> bool:
    host, _, port = _plain(local).rpartition(":")
    return _plain(peer) == _plain(local) or (host in ("0.0.0.0", "::", "") and peer.rpartition(":")[2] == port)


def _is_local(row: SocketRow) -> bool:
    """Both ends have the same address, or the loopback's: the server is on this machine."""
    mine, other = (_plain(one).rpartition(":")[0] for one in (row.local, row.peer))
    return mine == other or other.startswith("127.") or other == "::1"


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
