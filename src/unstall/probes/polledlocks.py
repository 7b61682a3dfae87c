"""Locks that a loop tries to take again and again. Nobody waits in the kernel, so /proc/locks shows no waiter."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from unstall.evidence import syntax
from unstall.evidence.locks import Holder, Lock
from unstall.evidence.threads import Thread
from unstall.probes import procfs
from unstall.probes.calledcode import MOST_FRAMES, RunningLoop, code_of, running_loops
from unstall.probes.code import source_path
from unstall.probes.filelocks import Row, of_inode, same_inode
from unstall.probes.lockholders import tree_of
from unstall.probes.paths import paths_near
from unstall.probes.samples import SampledFrame, SampledStack

_TRIES = {"flock", "lockf", "fcntl"}
_LOCK_PACKAGES = ("/filelock/", "/portalocker/", "/fasteners/", "/zc/lockfile/", "/py_filelock/", "/oslo_concurrency/")
_DATABASE_CALLS = {
    "execute", "executemany", "executescript", "commit", "fetchone", "fetchmany", "fetchall", "backup", "connect",
    "read_sql", "read_sql_query", "read_sql_table", "to_sql", "__enter__", "__exit__", "close", "scalar", "scalars",
}  # fmt: skip
_SLEEPS = {"clock_nanosleep", "nanosleep", "select", "pselect6", "poll"}
# Where SQLite puts its locks: in the database itself, or in the index of its write-ahead log.
_PENDING, _SHARED_END = 0x40000000, 0x40000000 + 512
_WAL_FIRST, _WAL_LAST = 120, 122


def collect(threads: list[Thread], stacks: dict[int, SampledStack], rows: list[Row]) -> list[Lock]:
    """The locks that these threads try to take again and again."""
    locks = []
    for thread in threads:
        stack = stacks.get(thread.tid)
        if stack is None or not stack.frames or not rows:
            continue
        found = _database(thread, stack, rows) or _tried(thread, stack, rows)
        if found is not None:
            locks.append(found)
    return locks


def _tried(thread: Thread, stack: SampledStack, rows: list[Row]) -> Lock | None:
    """The locked file of a loop that calls flock() or lockf() again and again."""
    for loop in running_loops(stack):
        if not _tries_lock(stack.pid, loop):
            continue
        if _has_limit(loop):
            return None
        for path in _candidates(stack, loop.frame):
            lock = _locked(stack.pid, path, thread.tid, rows)
            if lock is not None:
                place = loop if loop.frame.user else None
                return _polled(lock, place)
        return None
    return None


def _polled(lock: Lock, place: RunningLoop | None) -> Lock:
    return msgspec.structs.replace(
        lock,
        polled=True,
        tried_at=place.node.lineno if place else 0,
        tried_in=place.frame.file if place else "",
    )


def _tries_lock(pid: int, loop: RunningLoop) -> bool:
    if not loop.frame.user:
        return any(package in loop.frame.file for package in _LOCK_PACKAGES)
    calls = [call for code in code_of(pid, loop) for call in syntax.calls(code.node)]
    return any(syntax.called_name(call) in _TRIES for call in calls)


def _has_limit(loop: RunningLoop) -> bool:
    if loop.frame.user:
        return loop.limited
    limit = loop.frame.value("timeout")
    return isinstance(limit, int | float) and not isinstance(limit, bool) and limit >= 0


def _candidates(stack: SampledStack, frame: SampledFrame) -> Iterator[str]:
    """Files that the loop may mean: named by its variables, then by its callers', then open in the process."""
    frames = stack.frames[:MOST_FRAMES]
    begin = next((place for place, one in enumerate(frames) if one is frame), 0)
    for one in frames[begin:]:
        yield from paths_near(one)
        if one.user:
            break
    for fd in procfs.numbers(f"/proc/{stack.pid}/fd"):
        target = procfs.link(f"/proc/{stack.pid}/fd/{fd}")
        if target and target.startswith("/") and not target.startswith("/dev/"):
            yield target


def _locked(pid: int, path: str, tid: int, rows: list[Row]) -> Lock | None:
    full = path if path.startswith("/") else os.path.join(procfs.link(f"/proc/{pid}/cwd") or "/", path)
    inode = inode_of(source_path(pid, full))
    if inode is None:
        return None
    held = [row for row in rows if not row["waits"] and same_inode(row["inode"], inode)]
    if not held:
        return None
    lock = of_inode(inode, full, tid, rows, "flock" if held[0]["sort"] == "FLOCK" else "fcntl")
    return lock if lock.holders else None


def inode_of(path: str) -> tuple[int, int, int] | None:
    """Device and inode of a regular file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return os.major(found.st_dev), os.minor(found.st_dev), found.st_ino


def _database(thread: Thread, stack: SampledStack, rows: list[Row]) -> Lock | None:
    """The SQLite database that a thread waits for: SQLite sleeps, and tries again until its busy timeout."""
    if thread.last.syscall not in _SLEEPS or not _is_in_sqlite(thread, stack):
        return None
    for path in _open_files(stack.pid):
        holders = _database_holders(stack.pid, path, rows)
        if holders:
            return Lock(
                id=f"database:{path}",
                sort="database-lock",
                label=f"the SQLite database {path}",
                waiters=(thread.tid,),
                holders=tuple(holders),
                path=path,
                polled=True,
            )
    return None


def _is_in_sqlite(thread: Thread, stack: SampledStack) -> bool:
    if any("sqlite" in one for one in thread.libraries):
        return True
    if any("libpython" in one or "sqlite" in one for one in thread.libraries):
        return False
    frame = next((one for one in stack.frames[:MOST_FRAMES] if one.user), stack.frames[0])
    tree = tree_of(stack.pid, frame)
    return tree is not None and any(
        syntax.called_name(call) in _DATABASE_CALLS for call in syntax.calls_on_line(tree, frame.line)
    )


def _open_files(pid: int) -> list[str]:
    paths: dict[str, None] = {}
    for fd in procfs.numbers(f"/proc/{pid}/fd"):
        target = procfs.link(f"/proc/{pid}/fd/{fd}") or ""
        if target.startswith("/") and not target.endswith(("-wal", "-shm", "-journal")):
            paths[target] = None
    return list(paths)


def _database_holders(pid: int, path: str, rows: list[Row]) -> list[Holder]:
    held = [row for row in _rows_of(pid, path, rows) if _PENDING <= int(row["start"]) < _SHARED_END]
    held += [
        row
        for row in _rows_of(pid, path + "-shm", rows)
        if _WAL_FIRST <= int(row["start"]) <= _WAL_LAST and row["mode"] == "WRITE"
    ]
    others = [row for row in held if int(row["pid"]) != pid]
    writers = [row for row in others if row["mode"] == "WRITE"]
    mine = [row for row in held if row["mode"] == "WRITE"]
    chosen = writers or others or mine
    return [
        Holder(owner, source=f"/proc/locks: byte {row['start']}", dead=procfs.stat(owner) is None)
        for owner, row in {int(row["pid"]): row for row in chosen if int(row["pid"]) > 0}.items()
    ]


def _rows_of(pid: int, path: str, rows: list[Row]) -> list[Row]:
    inode = inode_of(source_path(pid, path))
    if inode is None:
        return []
    return [
        row
        for row in rows
        if not row["waits"] and row["sort"] in ("POSIX", "OFDLCK") and same_inode(row["inode"], inode)
    ]
