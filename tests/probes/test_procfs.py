"""What /proc says about real processes, strange ones too."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tests.support.started import started, until, until_in

from unstall.probes import procfs

NOBODY = 4_194_304  # the largest pid that Linux can be told to use, plus one


def test_a_name_with_spaces_and_brackets(tmp_path: Path) -> None:
    code = """
        import ctypes
        ctypes.CDLL(None).prctl(15, b"a) Z (b 1 2")
        say("ready")
        input()
    """
    with started(tmp_path, code) as program:
        program.line()
        until_in("read", program.pid)
        found = procfs.stat(program.pid)
        assert found is not None
        assert (found.name, found.state, found.ppid) == ("a) Z (b 1 2", "S", os.getpid())
        assert (found.session, found.group, found.threads) == (program.pid, program.pid, 1)
        assert found.rss_pages > 0


def test_the_system_call_that_a_thread_is_blocked_in(tmp_path: Path) -> None:
    code = """
        import os, threading
        ends = os.pipe()
        def wait():
            say(threading.get_native_id(), ends[0])
            os.read(ends[0], 77)
        threading.Thread(target=wait, daemon=True).start()
        input()
    """
    with started(tmp_path, code) as program:
        tid, fd = (int(word) for word in program.line())
        until_in("read", program.pid, tid)
        name, arguments, stack, instruction = procfs.syscall(program.pid, tid)
        assert (name, arguments[0], arguments[2]) == ("read", fd, 77)
        assert len(arguments) == 6
        assert stack > 4096
        assert instruction > 4096
        assert procfs.threads(program.pid) == [program.pid, tid]


def test_cpu_and_switches(tmp_path: Path) -> None:
    code = """
        import os
        if os.fork():
            input()
        say(os.getpid())
        while True: pass
    """
    with started(tmp_path, code) as program:
        spinning = program.number()
        until_in("read", program.pid)
        resting, busy = procfs.cpu(program.pid, program.pid), procfs.cpu(spinning, spinning)
        until(lambda: procfs.cpu(spinning, spinning)[0] > busy[0] + 0.1, "it computes")
        assert procfs.cpu(program.pid, program.pid) == resting
        assert procfs.syscall(spinning, spinning)[0] in ("running", "none")


def test_command_lines(tmp_path: Path) -> None:
    with started(tmp_path, "say(1); input()", "two words", "", "new\nline", "café") as program:
        program.line()
        assert procfs.command(program.pid)[2:] == ["two words", "", "new\nline", "café"]


def test_file_locks(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    with path.open("w") as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)
        code = "import fcntl, sys; say(1); fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX)"
        with started(tmp_path, code, str(path)) as program:
            program.line()
            until_in("flock", program.pid)
            inode = str(path.stat().st_ino)
            rows = [row for row in procfs.file_locks() if row["inode"].endswith(":" + inode)]
    assert {(row["pid"], row["waits"]) for row in rows} == {(str(os.getpid()), ""), (str(program.pid), "yes")}
    assert {row["sort"] for row in rows} == {"FLOCK"}
    assert len({row["id"] for row in rows}) == 1


def test_a_process_that_is_gone(tmp_path: Path) -> None:
    with started(tmp_path, "input()") as program:
        program.process.kill()
        program.process.wait()
        for pid in (program.pid, NOBODY, 0):
            assert procfs.stat(pid) is None
            assert procfs.stat(pid, pid) is None
            assert procfs.status_field(pid, "State") is None
            assert procfs.command(pid) == []
            assert procfs.threads(pid) == []
            assert procfs.cpu(pid, pid) == (0.0, 0)
            assert procfs.syscall(pid, pid) == ("", (), 0, 0)
            assert procfs.blocked_seconds(pid, pid) is None
            assert procfs.link(f"/proc/{pid}/exe") is None


def test_how_long_a_thread_has_been_blocked(tmp_path: Path) -> None:
    with started(tmp_path, "say(1); input()") as program:
        program.line()
        until_in("read", program.pid)
        first = procfs.blocked_seconds(program.pid, program.pid)
        if first is None:
            return  # this kernel does not show it
        until(lambda: (procfs.blocked_seconds(program.pid, program.pid) or 0) > first + 0.2, "time passes")
        assert first < 30
