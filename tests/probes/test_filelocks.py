"""Who holds a file's lock: another process, an heir of one that has ended, or the waiter itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.support.started import Started, started, until_in

from unstall.evidence.locks import Lock
from unstall.probes import filelocks
from unstall.probes.threads import ThreadWatcher

HOLDER = """
    import fcntl, os, sys
    file = open("index.lock", "w")
    fcntl.{take}
    say(os.getpid(), file.fileno())
    input()
"""
WAITER = """
    import fcntl
    file = open("index.lock", "w")
    say("asking")
    fcntl.{take}
"""
WAYS = {
    "flock": "flock(file, fcntl.LOCK_EX)",
    "lockf": "lockf(file, fcntl.LOCK_EX)",
    "ofd": "fcntl(file, 38, bytes([1]) + bytes(31))",  # F_OFD_SETLKW with F_WRLCK
}


def lock_that_waits(program: Started, call: str) -> Lock:
    until_in(call, program.pid)
    watcher = ThreadWatcher([program.pid])
    watcher.look()
    [lock] = filelocks.collect(list(watcher.finish({})))
    assert lock.waiters == (program.pid,)
    return lock


@pytest.mark.parametrize("way", WAYS)
def test_another_process_holds_it(tmp_path: Path, way: str) -> None:
    with started(tmp_path, HOLDER.format(take=WAYS[way])) as holder:
        pid, fd = (int(word) for word in holder.line())
        with started(tmp_path, WAITER.format(take=WAYS[way])) as waiter:
            waiter.line()
            lock = lock_that_waits(waiter, "flock" if way == "flock" else "fcntl")
    assert lock.path == str(tmp_path / "index.lock")
    assert lock.sort == ("file-lock" if way == "flock" else "record-lock")
    [found] = lock.holders
    assert found.pid == pid
    assert found.fd == (None if way == "lockf" else fd)
    assert found.source.startswith("/proc/")


def test_the_process_that_took_it_has_ended_but_its_child_has_the_descriptor(tmp_path: Path) -> None:
    code = """
        import fcntl, os
        file = open("index.lock", "w")
        fcntl.flock(file, fcntl.LOCK_EX)
        middle = os.fork()
        if middle:
            os.waitpid(middle, 0)
            file.close()
            say("done")
            input()
        heir = os.fork()
        if heir:
            os._exit(0)
        fcntl.flock(file, fcntl.LOCK_EX)  # the same lock: nothing new
        say(os.getpid(), file.fileno())
        while True: os.read(0, 1)
    """
    with started(tmp_path, code) as holder:
        said = [holder.line(), holder.line()]
        heir, fd = next([int(word) for word in words] for words in said if words != ["done"])
        with started(tmp_path, WAITER.format(take=WAYS["flock"])) as waiter:
            waiter.line()
            lock = lock_that_waits(waiter, "flock")
    [found] = lock.holders
    assert (found.pid, found.fd, found.source) == (heir, fd, f"/proc/{heir}/fdinfo/{fd}")


def test_it_waits_for_itself(tmp_path: Path) -> None:
    code = """
        import fcntl
        first, second = open("index.lock", "w"), open("index.lock", "w")
        fcntl.flock(first, fcntl.LOCK_EX)
        say("asking")
        fcntl.flock(second, fcntl.LOCK_EX)
    """
    with started(tmp_path, code) as program:
        program.line()
        lock = lock_that_waits(program, "flock")
    assert [one.pid for one in lock.holders] == [program.pid]


def test_two_readers_are_in_the_way(tmp_path: Path) -> None:
    shared = HOLDER.format(take="flock(file, fcntl.LOCK_SH)")
    with started(tmp_path, shared) as one, started(tmp_path, shared) as other:
        readers = {int(one.line()[0]), int(other.line()[0])}
        with started(tmp_path, WAITER.format(take=WAYS["flock"])) as waiter:
            waiter.line()
            lock = lock_that_waits(waiter, "flock")
    assert {holder.pid for holder in lock.holders} <= readers
    assert lock.holders


def test_the_locks_of_other_files_are_left_alone(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.lock")
    (tmp_path / name).touch()
    code = f"""
        import fcntl
        other = open({name!r}, "w")
        fcntl.flock(other, fcntl.LOCK_EX)
        say("ready")
        input()
    """
    with started(tmp_path, code) as other:
        other.line()
        found = filelocks.of_descriptor(other.pid, 0, None, [])
        assert found is None or found.holders == ()
        assert filelocks.of_descriptor(other.pid, 999, None, []) is None
