"""Small programs that tests start, watch until they are where they should be, and end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.zoo import kill_session
from unstall.probes import procfs
from unstall.probes.collect import Collection

LIMIT_S = 60
SAY = "import os\ndef say(*words): os.write(1, (' '.join(map(str, words)) + '\\n').encode())\n"  # each line at once


@dataclass(frozen=True)
class Started:
    """A program that runs in a session of its own."""

    process: subprocess.Popen[str]
    path: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> list[str]:
        """The words of the next line that it says."""
        assert self.process.stdout is not None
        words = self.process.stdout.readline().split()
        assert words, f"the program ended: {self.process.wait(LIMIT_S)}"
        return words

    def number(self) -> int:
        """The number that it says next."""
        return int(self.line()[-1])

    def answer(self, text: str = "") -> None:
        """Write a line to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()


@contextlib.contextmanager
def started(folder: Path, code: str, *arguments: str, before: tuple[str, ...] = (sys.executable,)) -> Iterator[Started]:
    """Run a program; it has `say(…)`. Afterwards, all processes of its session are killed."""
    path = folder / "program.py"
    path.write_text(SAY + textwrap.dedent(code))
    process = subprocess.Popen(
        [*before, str(path), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=folder,
    )
    try:
        yield Started(process, path)
    finally:
        kill_session(process.pid)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]


def until(condition: Callable[[], object], what: str = "") -> None:
    """Wait for something that gives no event: that a thread has come to rest in the kernel."""
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, f"it never happened: {what}"
        time.sleep(0.01)  # allow-sleep: a thread that enters a system call tells nobody


def until_in(call: str, pid: int, tid: int | None = None) -> None:
    """Wait until a thread is blocked in a system call."""
    until(lambda: procfs.syscall(pid, tid or pid)[0] == call, f"{call} in {tid or pid}")


@contextlib.contextmanager
def collection(pid: int, span_s: float = 0.3) -> Iterator[Collection]:
    """What is collected about a process in a short time."""
    made = Collection(pid)
    try:
        made.watch(span_s)
        yield made
    finally:
        made.close()


def footprint(pid: int) -> dict[int, tuple[object, ...]]:
    """Where each thread of a process stands in the kernel, and how often it came to run."""
    return {
        tid: (procfs.syscall(pid, tid), procfs.cpu(pid, tid)[1], procfs.read(f"/proc/{pid}/task/{tid}/wchan"))
        for tid in procfs.threads(pid)
        if os.path.exists(f"/proc/{pid}/task/{tid}")
    }
