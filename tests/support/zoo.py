"""Runs zoo programs until they say that they are stuck, and reads what their docstrings promise."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import importlib.util
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import unstall.zoo

ZOO = Path(unstall.zoo.__file__).parent
MARK = "# stalls here"
START_LIMIT_S = 90


@dataclass(frozen=True)
class Program:
    """A zoo program and what it promises."""

    path: Path
    cause: str | None
    sample: int | str | None
    verdicts: tuple[str, ...]
    also: tuple[str, ...]  # causes that are true as well: what the chain of waits ends in
    watched: str  # "steps": its training steps tell; "run": `unstall run` does; "left over"; else it is looked into
    guilty: tuple[tuple[str, int], ...]
    needs: str = ""

    @property
    def can_run(self) -> bool:
        """What it needs is installed."""
        return not self.needs or importlib.util.find_spec(self.needs) is not None

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"


def programs() -> list[Program]:
    """Every program of the zoo."""
    found = []
    for path in sorted(ZOO.glob("*/*.py")):
        text = path.read_text()
        doc = ast.get_docstring(ast.parse(text)) or ""
        fields = dict(
            line.split(":", 1)
            for line in doc.splitlines()
            if line.startswith(("cause:", "also:", "sample:", "verdict:", "watched:", "needs:"))
        )
        if "cause" not in fields:
            continue
        cause = fields["cause"].strip()
        sample = fields.get("sample", "").strip()
        found.append(
            Program(
                path=path,
                cause=None if cause == "none" else cause,
                sample=int(sample) if sample.lstrip("-").isdigit() else sample or None,
                verdicts=tuple(one.strip() for one in fields.get("verdict", "").split(",") if one.strip()),
                also=tuple(one.strip() for one in fields.get("also", "").split(",") if one.strip()),
                watched=fields.get("watched", "").strip(),
                guilty=tuple(_guilty(path, text)),
                needs=fields.get("needs", "").strip(),
            )
        )
    return found


def _guilty(path: Path, text: str) -> Iterator[tuple[str, int]]:
    files = [path]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            files += [path.with_name(f"{(name or '').rsplit('.', 1)[-1]}.py") for name in names]
    for file in dict.fromkeys(files):
        if file.exists() and file.name != "__init__.py":
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if MARK in line:
                    yield str(file), number


@contextlib.contextmanager
def running(path: Path, *, wait: bool = True, python: str = sys.executable) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a session of its own, once it has announced itself; killed with all that it started."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready"
        os.mkfifo(ready)
        listener = os.open(ready, os.O_RDWR | os.O_NONBLOCK)
        silent_read, silent_write = os.pipe()
        log = open(Path(folder) / "log", "wb")  # noqa: SIM115
        process = subprocess.Popen(
            [python, str(path)],
            stdin=silent_read,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, unstall.zoo.READY: str(ready)},
            start_new_session=True,
            cwd=folder,
            preexec_fn=_die_with_parent,
        )
        os.close(silent_read)
        try:
            if wait:
                _wait_for(process, listener, Path(folder) / "log")
            yield process
        finally:
            kill_session(process.pid)
            process.wait()
            log.close()
            for one in (listener, silent_write):
                os.close(one)


@contextlib.contextmanager
def supervised(path: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program under `unstall run`, which writes run.json into the folder; killed with all that it started."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "unstall", "run", "--json", str(folder / "run.json"), str(path)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=folder,
            preexec_fn=_die_with_parent,
        )
    try:
        yield process
    finally:
        kill_session(process.pid)
        process.wait()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _wait_for(process: subprocess.Popen[bytes], listener: int, log: Path) -> None:
    until = time.monotonic() + START_LIMIT_S
    while time.monotonic() < until:
        if select.select([listener], [], [], 0.2)[0]:
            return
        if process.poll() is not None:
            break
    raise AssertionError(f"the program did not announce itself: {log.read_text()[-2000:]}")


def left_over(process: subprocess.Popen[bytes]) -> int:
    """The last process that a program has left behind; waits for the program's end."""
    process.wait(START_LIMIT_S)
    return max(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _session_of(pid) == process.pid)


def _session_of(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        return os.getsid(pid)
    return None


def kill_session(session: int) -> None:
    """Kill every process of a session that this module started, stopped ones too, and all that those have started.

    `torchrun` gives each of its ranks a session of its own.
    """
    parents: dict[int, int] = {}
    doomed = {session}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                parents[int(entry.name)] = int(fields[1])
                doomed |= {int(entry.name)} if int(fields[3]) == session else set()
    while below := {pid for pid, parent in parents.items() if parent in doomed} - doomed:
        doomed |= below
    for pid in doomed & parents.keys():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
