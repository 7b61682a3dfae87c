"""Locks inside one process: what sort they are, what the code calls them, and which thread stands inside."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.started import Started, collection, started, until_in

from unstall.evidence.locks import Lock, Locks

TWO_THREADS = """
    import threading
    class Cache:
        def __init__(self):
            self.lock = {make}
        def keep(self):
            {hold}
        def want(self):
            say("waiter", threading.get_native_id())
            {wait}
    cache = Cache()
    def stay():
        say("holder", threading.get_native_id())
        threading.Event().wait()
    threading.Thread(target=cache.keep, daemon=True).start()
    input()
    cache.want()
"""
WITH = "\n            with self.lock: stay()"
ACQUIRE = "self.lock.acquire()\n            stay()"


def lock_of(program: Started) -> tuple[Lock | None, int]:
    """The lock that the main thread waits for, and the thread that was told to have it."""
    holder = program.number()
    program.answer()
    program.line()
    until_in("futex", program.pid)
    with collection(program.pid) as made:
        locks = made.bundle().get(Locks)
    assert locks is not None
    return locks.waited_by(program.pid), holder


@pytest.mark.parametrize("hold", [WITH, ACQUIRE], ids=["with", "acquire"])
@pytest.mark.parametrize("wait", ["self.lock.acquire()", "\n            with self.lock: pass"], ids=["acquire", "with"])
def test_a_lock(tmp_path: Path, hold: str, wait: str) -> None:
    code = TWO_THREADS.format(make="threading.Lock()", hold=hold, wait=wait)
    with started(tmp_path, code) as program:
        lock, holder = lock_of(program)
    assert lock is not None
    assert (lock.sort, lock.value, lock.label) == ("thread-lock", 0, "the lock `self.lock`")
    [found] = lock.holders
    assert (found.tid, found.function.rsplit(".", 1)[-1], found.exact) == (holder, "keep", hold == WITH)


def test_an_rlock_names_its_owner(tmp_path: Path) -> None:
    hold = "self.lock.acquire()\n            self.lock.acquire()\n            stay()"
    code = TWO_THREADS.format(make="threading.RLock()", hold=hold, wait="self.lock.acquire()")
    with started(tmp_path, code) as program:
        lock, holder = lock_of(program)
    assert lock is not None
    assert (lock.sort, lock.owner_is_gone) == ("thread-rlock", False)
    assert [(one.tid, one.count, one.source, one.exact) for one in lock.holders] == [(holder, 2, "RLock owner", True)]


def test_a_semaphore(tmp_path: Path) -> None:
    make, hold = "threading.BoundedSemaphore(1)", WITH
    code = TWO_THREADS.format(make=make, hold=hold, wait="self.lock.acquire()")
    with started(tmp_path, code) as program:
        lock, holder = lock_of(program)
    assert lock is not None
    assert (lock.sort, lock.value, lock.largest) == ("thread-semaphore", 0, 1)
    assert [(one.tid, one.function.rsplit(".", 1)[-1]) for one in lock.holders] == [(holder, "keep")]


@pytest.mark.parametrize(
    "wait",
    [
        "threading.Event().wait()",
        "\n            c = threading.Condition()\n            with c: c.wait()",
        "__import__('queue').Queue().get()",
        "threading.Barrier(2).wait()",
        "threading.Thread(target=threading.Event().wait).start(); threading._shutdown()",
    ],
)
def test_what_is_no_lock(tmp_path: Path, wait: str) -> None:
    """These sleep on a private lock that nobody forgot to release."""
    code = TWO_THREADS.format(make="threading.Lock()", hold=WITH, wait=wait)
    with started(tmp_path, code) as program:
        lock, _ = lock_of(program)
    assert lock is None


def test_the_lock_of_a_condition_that_another_thread_keeps(tmp_path: Path) -> None:
    code = TWO_THREADS.format(make="threading.Condition()", hold=WITH, wait="\n            with self.lock: pass")
    with started(tmp_path, code) as program:
        lock, holder = lock_of(program)
    assert lock is not None
    assert lock.sort == "thread-rlock"
    assert [one.tid for one in lock.holders] == [holder]


def test_a_lock_that_was_released_on_the_way(tmp_path: Path) -> None:
    """Somebody who took the lock, and let it go, is not its holder."""
    hold = "\n            ".join(["self.lock.acquire()", "self.lock.release()", "stay()"])
    wait = "self.lock.acquire()\n            self.lock.acquire()"
    code = TWO_THREADS.format(make="threading.Lock()", hold=hold, wait=wait)
    with started(tmp_path, code) as program:
        lock, _ = lock_of(program)
    assert lock is not None
    assert [one.tid for one in lock.holders] == [program.pid]


def test_a_lock_that_was_copied_by_a_fork(tmp_path: Path) -> None:
    code = """
        import os, threading
        lock = threading.Lock()
        def keep():
            with lock:
                say(threading.get_native_id())
                threading.Event().wait()
        threading.Thread(target=keep, daemon=True).start()
        input()
        if not os.fork():
            say(os.getpid())
            with lock: pass
        os.wait()
    """
    with started(tmp_path, code) as program:
        holder = program.number()
        program.answer()
        child = program.number()
        until_in("futex", child)
        with collection(program.pid) as made:
            locks = made.bundle().get(Locks)
    assert locks is not None
    lock = locks.waited_by(child)
    assert lock is not None
    assert (lock.inherited_from, lock.parent_locked, lock.holders) == (program.pid, True, ())
    assert [one.tid for one in lock.parent_holders] == [holder]
