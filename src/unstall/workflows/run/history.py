"""The folder of a run: flight records, bundles, report. Bounded in number and size."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import tempfile
import time
import traceback
from pathlib import Path

MOST_RUNS = 20
LARGEST_BYTES = 200 * 1024 * 1024
LONGEST_RUN_S = 30 * 86400.0
HOME = Path(".unstall") / "runs"


def new_run(runs: Path | None = None) -> Path:
    """A folder for a new run; in the temporary folder where the working one can't be written to."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{platform.node() or 'here'}-{os.getpid()}"
    wanted = runs or Path(os.environ.get("UNSTALL_RUNS") or Path.cwd() / HOME)
    for home in (wanted.absolute(), Path(tempfile.gettempdir()) / f"unstall-runs-{os.getuid()}"):
        try:
            (home / name).mkdir(parents=True)
            with contextlib.suppress(OSError):
                (home.parent / ".gitignore").write_text("*\n")
        except OSError:
            continue
        tidy(home, keep=home / name)
        return home / name
    return Path(tempfile.mkdtemp(prefix="unstall-"))


def note_trouble(run: Path) -> None:
    """Keep an error of our own in the run's folder: a bug report may need it, the training's output must not have it."""
    with contextlib.suppress(OSError):
        (run / "trouble.txt").write_text(traceback.format_exc())


def tidy(home: Path, keep: Path) -> None:
    """Remove the oldest runs, so that the newest ones stay within the limits."""
    runs = sorted((one for one in home.iterdir() if one != keep and one.is_dir()), key=lambda one: one.name)[::-1]
    total = 0
    for place, run in enumerate(runs):
        total += _size(run)
        if (place >= MOST_RUNS - 1 or total > LARGEST_BYTES) and not _is_running(run):
            shutil.rmtree(run, ignore_errors=True)


def _size(run: Path) -> int:
    total = 0
    with contextlib.suppress(OSError):  # another supervisor, which starts at this moment, may remove it
        for file in run.glob("*"):
            total += file.stat().st_size
    return total


def _is_running(run: Path) -> bool:
    _, _, rest = run.name.partition("-")
    _, _, rest = rest.partition("-")
    node, _, pid = rest.rpartition("-")
    if node in ("", platform.node() or "here"):
        return pid.isdigit() and Path(f"/proc/{pid}").exists()
    with contextlib.suppress(OSError, ValueError):  # of another machine, in a folder that both see
        recent = time.time() - (run / "run.json").stat().st_mtime < LONGEST_RUN_S
        return recent and json.loads((run / "run.json").read_text())["exit_code"] is None
    return False
