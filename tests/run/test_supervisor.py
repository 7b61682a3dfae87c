"""`unstall run` as a parent: what the training notices of it, and what is left when one of them ends."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.started import until
from tests.support.zoo import kill_session
from unstall.flight import layout, reader

LIMIT_S = 60
UNSTALL = [sys.executable, "-m", "unstall", "run", "--json", "run.json"]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[object]:
    """Starts `unstall run` on a program; ends whatever is left of it."""
    started: list[subprocess.Popen[bytes]] = []

    def start(
        code: str, *options: str, python: tuple[str, ...] | None = None, **more: object
    ) -> subprocess.Popen[bytes]:
        program = tmp_path / "train.py"
        program.write_text(textwrap.dedent(code))
        target = [str(program)] if python is None else ["--", sys.executable, *python, str(program)]
        process = subprocess.Popen(
            [*UNSTALL, *options, *target],
            cwd=tmp_path,
            start_new_session=True,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},  # type: ignore[call-overload]
        )
        started.append(process)
        return process

    yield start
    for process in started:
        kill_session(process.pid)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def document(tmp_path: Path) -> dict[str, object]:
    return json.loads((tmp_path / "run.json").read_text())


def test_output_and_exit_code_are_the_trainings_own(run, tmp_path: Path) -> None:
    process = run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert process.communicate(timeout=LIMIT_S) == (b"out\n", b"err\n")
    assert process.returncode == 7
    assert document(tmp_path)["exit_code"] == 7
    assert document(tmp_path)["verdict"] == "crashed"


def test_standard_input_reaches_the_training(run) -> None:
    process = run("print(input()[::-1])", stdin=subprocess.PIPE)
    assert process.communicate(b"abc\n", timeout=LIMIT_S)[0] == b"cba\n"
    assert process.returncode == 0


def test_arguments_modules_and_commands(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text("import sys; print(__name__, sys.argv[1:])")
    for words in (["-m", "package.train", "--json", "x"], ["package/train.py", "--json", "x"]):
        out = subprocess.run([*UNSTALL, *words], cwd=tmp_path, capture_output=True, timeout=LIMIT_S, check=True).stdout
        assert out == b"__main__ ['--json', 'x']\n"
    command = [*UNSTALL, "--", "sh", "-c", "echo $0 $1", "--json", "y"]
    assert (
        subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=LIMIT_S, check=True).stdout == b"--json y\n"
    )


@pytest.mark.parametrize(
    ("words", "hint"),
    [([], "unstall run train.py"), (["missing.py"], "unstall run train.py"), (["--", "no-such-command"], "`--`")],
)
def test_wrong_usage(words: list[str], hint: str, tmp_path: Path) -> None:
    result = subprocess.run([*UNSTALL, *words], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S)
    assert result.returncode == 2
    assert hint in result.stderr


def test_killed_by_a_signal_as_the_training_was(run) -> None:
    process = run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert process.wait(LIMIT_S) == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2])
def test_signals_are_passed_on(run, number: signal.Signals) -> None:
    process = run(
        f"""
        import signal, sys
        signal.signal({int(number)}, lambda *_: sys.exit(9))
        print("ready", flush=True)
        signal.pause()
        """
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.wait(LIMIT_S) == 9


def test_ctrl_c_and_a_terminal(run) -> None:
    """The training has the terminal, gets Ctrl-C from it once, and decides itself what that means."""
    ours, theirs = pty.openpty()
    process = run(
        """
        import sys, time
        assert sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()
        caught = 0
        while True:
            try:
                print("ready" if not caught else "", flush=True)
                time.sleep(0.3 if caught else 100)  # allow-sleep: the program under test
                break
            except KeyboardInterrupt:
                caught += 1
        print("caught", caught, flush=True)
        """,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=_take_terminal,
    )
    os.close(theirs)
    text = b""
    try:
        while not re.search(rb"caught \d", text) and select.select([ours], [], [], LIMIT_S)[0]:
            piece = _read(ours, text)
            if b"ready" in piece:
                os.write(ours, b"\x03")
            text += piece
        assert b"caught 1" in text
        assert process.wait(LIMIT_S) == 0
    finally:
        os.close(ours)


def _read(terminal: int, before: bytes) -> bytes:
    try:
        return os.read(terminal, 1000)
    except OSError:  # its other end was closed
        raise AssertionError(before.decode()) from None


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


FORKS = """
import os, signal, multiprocessing, time
def worker(): time.sleep(1000)  # allow-sleep: the program under test
if __name__ == "__main__":
    child = multiprocessing.get_context("{method}").Process(target=worker)
    child.start()
    print(child.pid, flush=True)
    {then}
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_no_worker_outlives_a_killed_training(run, method: str) -> None:
    process = run(FORKS.format(method=method, then="os.kill(os.getpid(), signal.SIGKILL)"))
    child = int(process.stdout.readline())
    assert process.wait(LIMIT_S) == -signal.SIGKILL
    until(lambda: not os.path.exists(f"/proc/{child}"), "the worker ends")


def test_orphans_may_be_kept(run) -> None:
    process = run(FORKS.format(method="fork", then="os.kill(os.getpid(), signal.SIGKILL)"), "--keep-orphans")
    child = int(process.stdout.readline())
    process.wait(LIMIT_S)
    assert os.path.exists(f"/proc/{child}")


def test_a_program_that_was_meant_to_stay_stays(run) -> None:
    process = run("import subprocess; print(subprocess.Popen(['sleep', '1000'], stdout=-3, stderr=-3).pid, flush=True)")
    child = int(process.stdout.readline())
    assert process.wait(LIMIT_S) == 0
    assert os.path.exists(f"/proc/{child}")


def test_the_training_outlives_its_supervisor(run, tmp_path: Path) -> None:
    process = run(
        """
        import os, sys, time
        supervisor = os.getppid()
        print(os.getpid(), flush=True)
        while os.getppid() == supervisor: time.sleep(0.01)  # allow-sleep: the program under test
        open("done", "w").close()
        """
    )
    process.stdout.readline()
    process.kill()
    until(lambda: (tmp_path / "done").exists(), "the training goes on")


@pytest.mark.parametrize("flags", [("-I",), ("-S",), ("-E",)])
def test_a_python_that_lets_no_agent_in(run, flags: tuple[str, ...]) -> None:
    process = run("print('runs')", python=flags)
    assert process.communicate(timeout=LIMIT_S)[0] == b"runs\n"
    assert process.returncode == 0


def test_the_users_own_sitecustomize_runs_too(run, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import builtins; builtins.mine = 42")
    process = run("print(mine)", env={**os.environ, "PYTHONPATH": str(tmp_path / "site")})
    assert process.communicate(timeout=LIMIT_S)[0] == b"42\n"


@pytest.mark.parametrize(
    "code",
    [
        "import os, sys; os.chdir('/'); os.close(1); os.close(2); sys.exit(3)",
        "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(3)'])",
        "import sys; sys.excepthook = lambda *_: sys.exit(3); raise ValueError",
        "import os, time\nfor _ in range(300):\n    os.fork() or os._exit(0)\nwhile True:\n    try: os.wait()\n    except ChildProcessError: raise SystemExit(3)",
        "import sys; sys.meta_path.clear(); sys.exit(3)",
    ],
)
def test_trainings_with_odd_habits(run, code: str) -> None:
    process = run(code)
    err = process.communicate(timeout=LIMIT_S)[1]
    assert process.returncode == 3, err


def test_a_folder_that_can_not_be_written_to(run, tmp_path: Path) -> None:
    (tmp_path / ".unstall").write_text("in the way")
    process = run("print('runs')")
    assert process.communicate(timeout=LIMIT_S)[0] == b"runs\n"


def test_beats_can_be_read_after_sigkill(run, tmp_path: Path) -> None:
    process = run(
        """
        import os, signal, torch
        from torch.utils.data import DataLoader
        class Rows(torch.utils.data.Dataset):
            def __len__(self): return 100
            def __getitem__(self, index):
                if index == 37: os.kill(os.getpid(), signal.SIGKILL)
                return torch.ones(2) * index
        for batch in DataLoader(Rows(), batch_size=4): pass
        """
    )
    assert process.wait(LIMIT_S) == -signal.SIGKILL
    (beats,) = reader.read_all(str(next((tmp_path / ".unstall" / "runs").iterdir()))).values()
    assert (beats.sample, beats.stage, beats.phase) == (37, "fetching", "loading")
    assert beats.count(layout.DELIVERED) == 9
