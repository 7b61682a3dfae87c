"""What threads ask of the kernel, and when the kernel will wake them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.support.started import collection, started, until, until_in

from unstall.evidence.threads import Thread
from unstall.probes import procfs
from unstall.probes.python.memory import ProcessMemory
from unstall.probes.threads import ThreadWatcher

LIMIT_S = 500


def watched(pid: int, looks: int = 2) -> dict[int, Thread]:
    watcher = ThreadWatcher([pid])
    for _ in range(looks):
        watcher.look()
    with ProcessMemory(pid) as memory:
        return {one.tid: one for one in watcher.finish({pid: memory})}


@pytest.mark.parametrize(
    ("wait", "call"),
    [
        (f"time.sleep({LIMIT_S})", "clock_nanosleep"),  # allow-sleep: the program under test
        (f"select.select([pipe], [], [], {LIMIT_S})", "pselect6 select"),
        (f"poller.poll({LIMIT_S * 1000})", "poll ppoll"),
        (f"select.epoll().poll({LIMIT_S})", "epoll_wait epoll_pwait"),
        (f"threading.Event().wait({LIMIT_S})", "futex"),
        (f"lock.acquire(timeout={LIMIT_S})", "futex"),
        (f"queue.Queue().get(timeout={LIMIT_S})", "futex"),
        (f"shared.acquire(timeout={LIMIT_S})", "futex"),
    ],
)
def test_when_a_wait_ends_by_itself(tmp_path: Path, wait: str, call: str) -> None:
    code = f"""
        import multiprocessing, os, queue, select, threading, time
        pipe = os.pipe()[0]
        poller = select.poll()
        poller.register(pipe, select.POLLIN)
        lock, shared = threading.Lock(), multiprocessing.Lock()
        lock.acquire()
        shared.acquire()
        say("ready")
        {wait}
    """
    with started(tmp_path, code) as program:
        program.line()
        until(lambda: procfs.syscall(program.pid, program.pid)[0] in call.split(), call)
        thread = watched(program.pid)[program.pid]
        assert thread.still
        assert thread.steady
        assert not thread.running
        assert thread.wakes_in_s is not None
        assert LIMIT_S - 30 < thread.wakes_in_s <= LIMIT_S


@pytest.mark.parametrize(
    ("wait", "call"),
    [
        ("os.read(pipe, 1)", "read"),
        ("select.select([pipe], [], [])", "pselect6 select"),
        ("poller.poll()", "poll ppoll"),
        ("select.epoll().poll()", "epoll_wait epoll_pwait"),
        ("lock.acquire()", "futex"),
        ("threading.Event().wait()", "futex"),
        ("shared.acquire()", "futex"),
        ("signal.pause()", "pause"),
    ],
)
def test_a_wait_without_an_end(tmp_path: Path, wait: str, call: str) -> None:
    code = f"""
        import multiprocessing, os, select, signal, threading
        pipe = os.pipe()[0]
        poller = select.poll()
        poller.register(pipe, select.POLLIN)
        lock, shared = threading.Lock(), multiprocessing.Lock()
        lock.acquire()
        shared.acquire()
        say("ready")
        {wait}
    """
    with started(tmp_path, code) as program:
        program.line()
        until(lambda: procfs.syscall(program.pid, program.pid)[0] in call.split(), call)
        thread = watched(program.pid)[program.pid]
        assert thread.still
        assert thread.wakes_in_s is None
        assert thread.library.startswith(("libc.so", "libc-", "ld-musl"))


def test_the_libraries_under_a_blocked_call(tmp_path: Path) -> None:
    code = """
        import sqlite3, threading
        connection = sqlite3.connect(":memory:")
        connection.create_function("wait", 0, threading.Event().wait)
        say("ready")
        connection.execute("select wait()").fetchall()
    """
    with started(tmp_path, code) as program:
        program.line()
        until_in("futex", program.pid)
        thread = watched(program.pid)[program.pid]
    assert any("sqlite3" in one for one in thread.libraries)
    assert any(one.startswith(("libpython", "python")) for one in thread.libraries)


def test_a_thread_that_computes_beside_one_that_waits(tmp_path: Path) -> None:
    code = """
        import threading
        def spin():
            say(threading.get_native_id())
            while True: pass
        threading.Thread(target=spin, daemon=True).start()
        threading.Event().wait()
    """
    with started(tmp_path, code) as program:
        spinning = program.number()
        with collection(program.pid) as made:
            threads = {one.tid: one for one in made.threads.finish({})}
    assert threads[spinning].running
    assert not threads[spinning].still
    assert not threads[program.pid].running
    assert len(threads[program.pid].readings) > 1


def test_a_thread_that_ends_between_two_looks(tmp_path: Path) -> None:
    code = """
    import threading
    end = threading.Event()
    threading.Thread(target=end.wait).start()
    say("ready"); input(); end.set(); threading._shutdown(); say("gone"); input()
    """
    with started(tmp_path, code) as program:
        program.line()
        watcher = ThreadWatcher([program.pid])
        watcher.look()
        assert len(watcher.finish({})) == 2
        program.answer()
        program.line()
        until(lambda: len(os.listdir(f"/proc/{program.pid}/task")) == 1)
        watcher.look()
        [thread] = watcher.finish({})
    assert thread.tid == program.pid


def test_a_process_that_ends_between_two_looks(tmp_path: Path) -> None:
    with started(tmp_path, "say(1); input()") as program:
        program.line()
        watcher = ThreadWatcher([program.pid])
        watcher.look()
        memory = ProcessMemory(program.pid)
        program.process.kill()
        program.process.wait()
        watcher.look()
        [thread] = watcher.finish({program.pid: memory})
        memory.close()
    assert len(thread.readings) == 1
    assert thread.libraries == ()
