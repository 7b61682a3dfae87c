"""Which process is the root of a training, and what its tree is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.started import started, until, until_in

from unstall.errors import CannotLook, NoSuchProcess, NotPython
from unstall.probes import processes, procfs
from unstall.probes.processes import find_root

WORKERS = """
    import multiprocessing, os, sys, threading
    def grandchild():
        print("grandchild", os.getpid(), flush=True)
        threading.Event().wait()
    def child(method):
        print("child", os.getpid(), flush=True)
        inner = multiprocessing.get_context("fork").Process(target=grandchild)
        inner.start()
        inner.join()
    if __name__ == "__main__":
        worker = multiprocessing.get_context(sys.argv[1]).Process(target=child, args=(sys.argv[1],))
        worker.start()
        worker.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_worker_leads_to_its_main_process(tmp_path: Path, method: str) -> None:
    with started(tmp_path, WORKERS, method) as program:
        child, grandchild = program.number(), program.number()
        assert find_root(child) == program.pid
        assert find_root(grandchild) == program.pid
        assert find_root(program.pid) == program.pid
        assert {child, grandchild} <= set(processes.descendants(program.pid))
        tree = processes.collect(program.pid)
        assert tree.all[0].pid == tree.root == program.pid
        assert all(one.python and not one.stranger and not one.dead for one in tree.all)
        parent = tree.forked_from(grandchild)
        assert (parent.pid if parent else None) == (child if method == "fork" else None)


def test_a_shell_leads_down_to_its_python(tmp_path: Path) -> None:
    shell = ("sh", "-c", f'{sys.executable} "$0"; true')
    with started(tmp_path, "import os; say(os.getpid()); input()", before=shell) as program:
        python = program.number()
        assert python != program.pid
        assert find_root(program.pid) == find_root(python) == python


def test_a_shell_with_two_pythons_is_asked_about(tmp_path: Path) -> None:
    shell = ("sh", "-c", f'{sys.executable} "$0" & {sys.executable} "$0"; wait')
    with started(tmp_path, "import os, threading; say(os.getpid()); threading.Event().wait()", before=shell) as program:
        pythons = sorted((program.number(), program.number()))
        with pytest.raises(NotPython, match="started 2 Python processes") as caught:
            find_root(program.pid)
        assert all(f"unstall why {one}" in (caught.value.hint or "") for one in pythons)


def test_a_python_that_another_python_started_is_a_root_of_its_own(tmp_path: Path) -> None:
    code = """
        import subprocess, sys
        say(subprocess.Popen([sys.executable, "-c", "print(1, flush=True); input()"]).pid)
        sys.stdin.read()
    """
    with started(tmp_path, code) as program:
        other = program.number()
        program.line()
        assert find_root(other) == other
        assert find_root(program.pid) == program.pid
        assert other in {one.pid for one in processes.collect(program.pid).all}


def test_no_python_below(tmp_path: Path) -> None:
    shell = ("sh", "-c", "echo ready; read line")
    with started(tmp_path, "", before=shell) as program:
        program.line()
        with pytest.raises(NotPython, match=r"is not Python, and no Python runs below it"):
            find_root(program.pid)


def test_a_zombie(tmp_path: Path) -> None:
    with started(tmp_path, "import os; say(1); os._exit(3)") as program:
        program.line()
        until(lambda: (found := procfs.stat(program.pid)) and found.state == "Z", "it has ended")
        with pytest.raises(CannotLook, match=r"has ended.*exit code 3") as caught:
            find_root(program.pid)
        assert str(os.getpid()) in (caught.value.hint or "")
        described = processes.describe(program.pid)
        assert described is not None
        assert (described.dead, described.exit_code, described.exit_signal) == (True, 3, None)


def test_a_killed_child_says_by_what(tmp_path: Path) -> None:
    with started(tmp_path, "import os; say(1); os.abort()") as program:
        program.line()
        until(lambda: (found := procfs.stat(program.pid)) and found.state == "Z", "it has ended")
        described = processes.describe(program.pid)
        assert described is not None
        assert (described.exit_code, described.exit_signal) == (None, 6)


@pytest.mark.parametrize("pid", [0, -1, 4_194_304, 1 << 40])
def test_no_such_process(pid: int) -> None:
    with pytest.raises(NoSuchProcess):
        find_root(pid)


def test_a_thread_of_the_kernel() -> None:
    found = procfs.stat(2)
    if found is None or found.name != "kthreadd":
        pytest.skip("no kernel threads are visible here")
    with pytest.raises(NotPython, match="a thread of the kernel"):
        find_root(2)


def test_the_id_of_a_thread_leads_to_its_process(tmp_path: Path) -> None:
    code = """
        import threading
        threading.Thread(target=lambda: (say(threading.get_native_id()), threading.Event().wait()), daemon=True).start()
        input()
    """
    with started(tmp_path, code) as program:
        assert find_root(program.number()) == program.pid


def test_secrets_in_the_command_line(tmp_path: Path) -> None:
    arguments = ["--api-key", "hunter2", "--token=hunter2", "AWS_SECRET=hunter2", "--lr", "0.1", "x" * 500]
    with started(tmp_path, "say(1); input()", *arguments) as program:
        program.line()
        words = processes.command_words(program.pid)
    assert "hunter2" not in words
    assert "--api-key … --token=… AWS_SECRET=… --lr 0.1 xxx" in words
    assert len(words) < 500


def test_an_unusual_name_of_python(tmp_path: Path) -> None:
    """A Python that runs under another name, as a symbolic link makes it."""
    link = tmp_path / "trainer"
    link.symlink_to(sys.executable)
    with started(tmp_path, "say(1); input()", before=(str(link),)) as program:
        program.line()
        assert processes.is_python(program.pid)


def test_what_is_not_python() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as cat:
        until_in("read", cat.pid)
        assert not processes.is_python(cat.pid)
