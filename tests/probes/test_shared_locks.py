"""Which process and thread has a lock of multiprocessing, however the processes were started."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.started import Started, collection, started, until_in

from unstall.evidence.locks import Lock, Locks

METHODS = ["fork", "spawn", "forkserver"]
HOLDER_AND_WAITER = """
    import multiprocessing, os, sys, threading
    def hold(lock, taken):
        taken()
        os.write(1, f"holder {threading.get_native_id()}\\n".encode())
        threading.Event().wait()
    def take_once(lock):
        hold(lock, lock.acquire)
    def take_twice(lock):
        hold(lock, lambda: (lock.acquire(), lock.acquire()))
    def inside_with(lock):
        with lock:
            os.write(1, f"holder {threading.get_native_id()}\\n".encode())
            threading.Event().wait()
    def wait(lock):
        os.write(1, f"waiter {os.getpid()}\\n".encode())
        with lock:
            pass
    if __name__ == "__main__":
        method, sort, how = sys.argv[1:]
        context = multiprocessing.get_context(method)
        lock = context.Semaphore(2) if sort == "Semaphore" else getattr(context, sort)()
        holder = context.Process(target=globals()[how], args=(lock,))
        holder.start()
        input()
        waiter = context.Process(target=wait, args=(lock,))
        waiter.start()
        waiter.join()
"""


def lock_between(program: Started) -> tuple[Lock, int, int]:
    """The lock, the thread that has it, and the process that waits."""
    holder = program.number()
    program.answer("go on")
    waiter = program.number()
    until_in("futex", waiter)
    with collection(program.pid) as made:
        locks = made.bundle().get(Locks)
    assert locks is not None
    lock = locks.waited_by(waiter)
    assert lock is not None
    return lock, holder, waiter


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", ["take_once", "inside_with"])
def test_the_holder_of_a_lock(tmp_path: Path, method: str, how: str) -> None:
    with started(tmp_path, HOLDER_AND_WAITER, method, "Lock", how) as program:
        lock, holder, waiter = lock_between(program)
    assert (lock.sort, lock.value, lock.waiters) == ("process-lock", 0, (waiter,))
    assert lock.searched
    [found] = lock.holders
    assert (found.pid, found.tid, found.count, found.exact) == (holder, holder, 1, True)
    assert found.source == "SemLock.count"
    if how == "inside_with":
        assert (found.file, found.function) == (str(program.path), "inside_with")
        assert "lock" in lock.label


@pytest.mark.parametrize("method", METHODS)
def test_an_rlock_that_was_taken_twice(tmp_path: Path, method: str) -> None:
    with started(tmp_path, HOLDER_AND_WAITER, method, "RLock", "take_twice") as program:
        lock, holder, _ = lock_between(program)
    assert lock.sort == "process-rlock"
    assert [(one.pid, one.tid, one.count) for one in lock.holders] == [(holder, holder, 2)]


@pytest.mark.parametrize("method", METHODS)
def test_a_semaphore_whose_permits_are_all_taken(tmp_path: Path, method: str) -> None:
    with started(tmp_path, HOLDER_AND_WAITER, method, "Semaphore", "take_twice") as program:
        lock, holder, _ = lock_between(program)
    assert (lock.sort, lock.value) == ("process-semaphore", 0)
    assert [(one.pid, one.count) for one in lock.holders] == [(holder, 2)]


def test_a_holder_that_was_killed_is_nobody(tmp_path: Path) -> None:
    code = """
        import multiprocessing, os, signal
        lock = multiprocessing.Lock()
        child = multiprocessing.Process(target=lambda: (lock.acquire(), os.kill(os.getpid(), signal.SIGKILL)))
        child.start()
        child.join()
        say("asking")
        lock.acquire()
    """
    with started(tmp_path, code) as program:
        program.line()
        until_in("futex", program.pid)
        with collection(program.pid) as made:
            locks = made.bundle().get(Locks)
    assert locks is not None
    lock = locks.waited_by(program.pid)
    assert lock is not None
    assert (lock.sort, lock.value, lock.holders, lock.searched) == ("process-lock", 0, (), True)


def test_a_holder_in_another_thread_of_the_same_process(tmp_path: Path) -> None:
    code = """
        import multiprocessing, threading
        lock = multiprocessing.Lock()
        def keep():
            with lock:
                say(threading.get_native_id())
                threading.Event().wait()
        threading.Thread(target=keep, daemon=True).start()
        input()
        with lock: pass
    """
    with started(tmp_path, code) as program:
        holder = program.number()
        program.answer()
        until_in("futex", program.pid)
        with collection(program.pid) as made:
            locks = made.bundle().get(Locks)
    assert locks is not None
    lock = locks.waited_by(program.pid)
    assert lock is not None
    assert [(one.pid, one.tid, one.function) for one in lock.holders] == [(program.pid, holder, "keep")]
