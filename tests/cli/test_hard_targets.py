"""`unstall why` on targets that end, multiply, hide, or can't be interrupted."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.started import footprint, started, until_in
from tests.support.zoo import ZOO, running

pytestmark = pytest.mark.live

LIMIT_S = 60  # a promise of 20 s, with room for a busy machine
_DROP_CAPABILITY, _CAP_SYS_PTRACE = 24, 19


def why(pid: int, **options: Any) -> subprocess.CompletedProcess[str]:
    """What the command says, as another process says it."""
    command = [sys.executable, "-m", "unstall", "why", str(pid), "--json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, **options)


def without_ptrace() -> None:
    """Root may read every process; this takes that right away."""
    ctypes.CDLL(None).prctl(_DROP_CAPABILITY, _CAP_SYS_PTRACE, 0, 0, 0)


@pytest.mark.parametrize("life_s", [0.0, 0.05, 0.2, 0.5, 1.0, 1.6, 2.2])
def test_a_training_that_ends_at_any_moment(tmp_path: Path, life_s: float) -> None:
    code = f"""
    import multiprocessing, sys, threading
    children = [multiprocessing.Process(target=threading.Event().wait, daemon=True) for _ in range(3)]
    for child in children: child.start()
    say("ready")
    threading.Event().wait({life_s})
    sys.exit(3)
    """
    with started(tmp_path, code) as target:
        target.line()
        result = why(target.pid)
    assert result.returncode in (0, 1, 3), result.stderr
    assert "Traceback" not in result.stderr
    if result.stdout:
        assert json.loads(result.stdout)["verdict"] in ("crashed", "slow", "progressing", "unknown")
    else:
        assert "hint:" in result.stderr


def test_a_fork_storm(tmp_path: Path) -> None:
    code = """
    import os, time
    say("ready")
    end = time.monotonic() + 20
    while time.monotonic() < end:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    """
    with started(tmp_path, code) as target:
        target.line()
        result = why(target.pid)
        assert target.process.poll() is None
    assert result.returncode in (0, 1, 3), result.stderr
    assert json.loads(result.stdout)["verdict"] in ("slow", "progressing")


def test_two_hundred_processes(tmp_path: Path) -> None:
    code = """
    import os, signal
    for _ in range(200):
        if os.fork() == 0:
            signal.pause()
    say("ready")
    signal.pause()
    """
    with started(tmp_path, code) as target:
        target.line()
        until_in("pause", target.pid)
        result = why(target.pid)
    document = json.loads(result.stdout)
    assert any("Python processes" in one["what"] for one in document["unexamined"])
    assert document["findings"][0]["confidence"] == "possible"


def test_a_process_that_waits_for_its_vfork_child_can_not_be_interrupted(tmp_path: Path) -> None:
    """State D: whoever attaches to such a process hangs with it."""
    code = """
    import ctypes, os
    libc = ctypes.CDLL(None)
    say(os.getpid())
    libc.syscall(58) or libc.pause()   # vfork: the parent is in state D until the child ends
    """
    with started(tmp_path, code) as target:
        target.line()
        result = why(target.pid)
        assert target.process.poll() is None
    assert json.loads(result.stdout)["findings"][0]["cause"] == "uninterruptible-io"


def test_the_gil_held_in_c(tmp_path: Path) -> None:
    code = """
    import ctypes, threading
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    say("ready")
    ctypes.PyDLL(None).sleep(1000)     # PyDLL: keeps the GIL
    """
    with started(tmp_path, code) as target:
        target.line()
        until_in("clock_nanosleep", target.pid)
        before = footprint(target.pid)[target.pid]
        result = why(target.pid)
        assert footprint(target.pid)[target.pid] == before
    assert json.loads(result.stdout)["verdict"] in ("slow", "stalled")


def test_a_process_blocked_in_a_pipe_stays_blocked(tmp_path: Path) -> None:
    """It was never woken: same system call, and not one context switch."""
    code = """
    import os, threading
    read, write = os.pipe()
    def fill():
        while True: os.write(write, b"x" * 4096)
    threading.Thread(target=fill, daemon=True).start()
    say("ready")
    while True: os.write(write, b"x" * 4096)
    """
    with started(tmp_path, code) as target:
        target.line()
        for tid in (target.pid, max(footprint(target.pid))):
            until_in("write", target.pid, tid)
        before = footprint(target.pid)
        result = why(target.pid)
        assert footprint(target.pid) == before
    assert json.loads(result.stdout)["verdict"] == "stalled"


def test_a_training_that_may_not_be_read(tmp_path: Path) -> None:
    """Only /proc is left: a stopped worker is seen, and no more is claimed than that."""
    with running(ZOO / "workers" / "worker_stopped.py") as training:
        result = why(training.pid, preexec_fn=without_ptrace)
    document = json.loads(result.stdout)
    first = document["findings"][0]
    assert (first["cause"], first["confidence"]) == ("worker-stopped", "likely")
    assert "unknown" in {link["grade"] for link in first["chain"]}
    hidden = document["unexamined"][0]
    assert str(training.pid) in hidden["what"]
    assert "sudo" in hidden["hint"]


@pytest.mark.parametrize(
    "code", ["import threading; say('ready'); threading.Event().wait()", "say('ready')\nwhile 1: 1"]
)
def test_what_may_not_be_read_is_not_called_stuck(tmp_path: Path, code: str) -> None:
    with started(tmp_path, code) as target:
        target.line()
        result = why(target.pid, preexec_fn=without_ptrace)
    assert result.returncode == 3
    document = json.loads(result.stdout)
    assert (document["verdict"], document["findings"]) == ("unknown", [])
    assert document["unexamined"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_training(tmp_path: Path) -> None:
    code = "import os; os.setuid(65534); say('ready'); os.read(0, 1)"
    with started(tmp_path, code) as target:
        target.line()
        assert why(target.pid).returncode == 1  # root may
        result = why(target.pid, preexec_fn=without_ptrace)
    assert result.returncode == 3
    assert "Traceback" not in result.stderr


def test_one_that_is_stopped_in_the_middle(tmp_path: Path) -> None:
    with started(tmp_path, "say('ready')\nwhile True: sum(range(1000))") as target:
        target.line()
        os.kill(target.pid, signal.SIGSTOP)
        result = why(target.pid)
    assert json.loads(result.stdout)["findings"][0]["cause"] == "worker-stopped"
