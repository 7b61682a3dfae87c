"""`unstall demo`: start a program of the zoo that gets stuck on purpose, and end all that it started."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import importlib.util
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from unstall import zoo
from unstall.errors import CannotLook, UsageError
from unstall.workflows.explain import suggest

START_LIMIT_S = 120
LONGEST_TEMPORARY = 60  # torch's sockets go there, and the path of a socket has room for 107 bytes
_SET_DEATH_SIGNAL = 1  # prctl(PR_SET_PDEATHSIG)


@dataclass(frozen=True)
class Program:
    """A program of the zoo, the cause that it has, and what happens in it."""

    slug: str
    path: Path
    cause: str
    story: str


def programs() -> dict[str, Program]:
    """Every program of the zoo that gets stuck, by name."""
    found = {}
    for path in sorted(Path(zoo.__file__).parent.glob("*/*.py")):
        page = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        story, _, fields = page.partition("\ncause:")
        cause = fields.split("\n", 1)[0].strip()
        if cause and cause != "none" and "\nwatched:" not in fields:
            slug = path.stem.replace("_", "-")
            found[slug] = Program(slug, path, cause, " ".join(story.split()))
    return found


def find(slug: str) -> Program:
    """The program of a cause."""
    known = programs()
    if slug not in known:
        mains = [one.slug for one in known.values() if one.slug == one.cause]
        near = suggest(slug, mains, "unstall demo")
        raise UsageError(
            f"there is no demo of {slug!r}", hint=near if "demo" in near else "there are demos of " + ", ".join(mains)
        )
    return known[slug]


@contextlib.contextmanager
def stuck(program: Program) -> Iterator[int]:
    """Run a copy of the program until it says that it is stuck. Afterwards, all that it started is killed."""
    _check_torch()
    with tempfile.TemporaryDirectory(prefix="unstall-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy = folder / program.path.name
        shutil.copyfile(program.path, copy)
        ready = folder / ".ready"
        os.mkfifo(ready)
        # Read and write: so that opening it waits for nobody. The pipe is a terminal at which nobody types.
        listener = os.open(ready, os.O_RDWR | os.O_NONBLOCK)
        keyboard, nobody = os.pipe()
        log = folder / "output.txt"
        training = _start(copy, ready, keyboard, log)
        try:
            _wait_until_stuck(training, listener, log)
            yield training.pid
        finally:
            _kill(training)
            for descriptor in (listener, keyboard, nobody):
                os.close(descriptor)


def _check_torch() -> None:
    if sys.platform != "linux":
        from unstall.workflows.why import check_system

        check_system()
    if importlib.util.find_spec("torch") is None:
        raise CannotLook(
            "the demo needs torch, which is not installed for this Python",
            hint=f"install it: `{sys.executable} -m pip install torch`, or run `unstall demo` where your training runs",
        )


def _start(copy: Path, ready: Path, keyboard: int, log: Path) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None)

    def die_with_parent() -> None:
        libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)

    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, str(copy)],
            stdin=keyboard,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(ready),
            start_new_session=True,
            cwd=copy.parent,
            preexec_fn=die_with_parent,
        )


def _environment(ready: Path) -> dict[str, str]:
    """The training's temporary files go into the demo's folder, so that they are removed with it."""
    folder = str(ready.parent)
    ours = {zoo.READY: str(ready)}
    if len(folder) <= LONGEST_TEMPORARY:
        ours["TMPDIR"] = folder
    return {**os.environ, **ours}


def _wait_until_stuck(training: subprocess.Popen[bytes], listener: int, log: Path) -> None:
    until = time.monotonic() + START_LIMIT_S
    while time.monotonic() < until:
        if select.select([listener], [], [], 0.2)[0]:
            return
        if training.poll() is not None:
            break
    ending = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
    raise CannotLook(
        "the demo program ended before it got stuck" if training.returncode is not None else "the demo did not start",
        hint=f"its last words:\n{ending}" if ending else None,
    )


def _kill(training: subprocess.Popen[bytes]) -> None:
    """Kill the session that was started here, and all that its processes have started, and nothing else.

    `torchrun` gives each of its ranks a session of its own.
    """
    from unstall.probes import processes, procfs

    below = set(processes.descendants(training.pid))
    for _ in range(3):  # a process may have started another one in between
        for pid in procfs.pids():
            found = procfs.stat(pid)
            if found is None or found.state in "ZX":
                continue
            if found.session == training.pid or pid in below or found.ppid in below:
                below.add(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    training.wait()
