"""Starts a training and stands by: signals, terminal, exit code and output are the training's own."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import unstall
from unstall.errors import UsageError
from unstall.probes import procfs

AGENT = Path(unstall.__file__).parent / "agent" / "site"
_SET_CHILD_SUBREAPER = 36
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2, signal.SIGCONT)
SUMMARY = signal.SIGUSR1  # asks the supervisor where the time went
_FROM_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # the whole foreground group gets these: so does the training


def command_line(words: Sequence[str], *, module: bool, command: bool) -> list[str]:
    """What to start: a script, a module, or a command as it stands."""
    if command:
        if shutil.which(words[0]) is None:
            raise UsageError(f"there is no command {words[0]!r}", hint="after `--` comes what a shell would start")
        return list(words)
    if module:
        return [python(), "-m", *words]
    if not Path(words[0]).exists():
        raise UsageError(
            f"there is no script {words[0]!r}", hint="`unstall run train.py`, or `unstall run -m package.train`"
        )
    return [python(), *words]


def python() -> str:
    """The Python that has torch: ours, or else the one that a shell would start."""
    if importlib.util.find_spec("torch") is not None:
        return sys.executable
    return shutil.which("python") or shutil.which("python3") or sys.executable


def environment(folder: Path) -> dict[str, str]:
    """The training's environment: the agent comes in through PYTHONPATH."""
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(AGENT), *([before] if before else [])])
    return {**os.environ, "PYTHONPATH": path, "UNSTALL_RUN": str(folder), "UNSTALL_SUPERVISOR": str(os.getpid())}


def start(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start the training, in this terminal. Processes that lose their parent become children of the supervisor."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        return subprocess.Popen(command, env=environment(folder), close_fds=False)
    except OSError as error:
        raise UsageError(f"can't start {command[0]!r}: {error.strerror}") from error


@contextlib.contextmanager
def passing_signals_on(training: subprocess.Popen[bytes]) -> Iterator[set[int]]:
    """What is sent to the supervisor is meant for the training. Yields the signals that have come, as they come."""
    come: set[int] = set()

    def pass_on(number: int, _: FrameType | None) -> None:
        come.add(number)
        with contextlib.suppress(ProcessLookupError):
            os.kill(training.pid, number)

    def leave(number: int, _: FrameType | None) -> None:
        """The training has it from the terminal already, or it is meant for us."""
        come.add(number)

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    before |= {number: signal.signal(number, leave) for number in (*_FROM_THE_TERMINAL, SUMMARY)}
    try:
        yield come
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_orphans(folder: Path, commands: set[tuple[str, ...]]) -> list[int]:
    """Kill what the training has left behind: its multiprocessing children, and forks that run its commands.

    A program that it started on purpose, to outlive it, is let alone.
    """
    ended = []
    for pid in procfs.pids():
        found = procfs.stat(pid)
        if found is None or found.ppid != os.getpid() or found.state in "ZX":
            continue
        words = tuple(procfs.command(pid))
        marked = f"UNSTALL_RUN={folder}" in (procfs.read(f"/proc/{pid}/environ") or "").split("\0")
        if marked and (words in commands or any("multiprocessing" in one for one in words)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            ended.append(pid)
    return ended


def reap() -> None:
    """Take notice of children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_like(status: int) -> int:
    """The exit code for a wait status. A training that was killed by a signal: so is the supervisor."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    number = -code
    with contextlib.suppress(OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        sys.stdout.flush()
        sys.stderr.flush()
        os.kill(os.getpid(), number)
    return 128 + number
