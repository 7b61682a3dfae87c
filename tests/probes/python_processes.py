"""Start Python programs of several versions for tests/probes/test_python_*.py."""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.zoo import kill_session

VERSIONS = ("3.11", "3.12", "3.13")
HERE = Path(__file__).parent


@functools.cache
def find_python(version: str) -> str | None:
    """An interpreter of `version`: from UNSTALL_TEST_PYTHONS, this one, PATH or pyenv."""
    named = os.environ.get("UNSTALL_TEST_PYTHONS", "").split(os.pathsep)
    ours = [sys.executable] if sys.version_info[:2] == tuple(map(int, version.split("."))) else []
    pyenv = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    on_path = shutil.which(f"python{version}")
    found = glob.glob(f"{pyenv}/versions/{version}.*/bin/python{version}")
    for path in [*named, *ours, *found, *([on_path] if on_path else [])]:
        if path and _version_of(path) == version:
            return path
    return None


def _version_of(path: str) -> str:
    source = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([path, "-c", source], capture_output=True, text=True, timeout=20).stdout.strip()
    except OSError:
        return ""


def start(python: str, script: str | Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `script` and wait until it says "ready"."""
    process = subprocess.Popen(
        [python, str(HERE / script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "ready\n", line
    return process


def stop(process: subprocess.Popen[str]) -> None:
    """Kill a process with all that it started, and close its pipes."""
    kill_session(process.pid)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
