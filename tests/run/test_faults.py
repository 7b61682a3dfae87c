"""What `unstall run` survives: full disks, other users, floods of processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.zoo import kill_session

LIMIT_S = 90
EPOCH = """
    import torch
    from torch.utils.data import DataLoader, Dataset
    class Rows(Dataset):
        def __len__(self): return 40
        def __getitem__(self, index): return torch.ones(1000) * index
    if __name__ == "__main__":
        print(sum(int(batch[:, 0].sum()) for batch in DataLoader(Rows(), batch_size=4, num_workers=2)), flush=True)
"""


def supervise(folder: Path, code: str, *, before: str = "") -> subprocess.CompletedProcess[str]:
    """A program under `unstall run`, in a mount namespace of its own if something is to be mounted before."""
    (folder / "train.py").write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "unstall", "run", "--json", "run.json", "train.py"]
    if before:
        command = ["unshare", "--mount", "sh", "-c", f'{before} && exec "$0" "$@"', *command]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        kill_session(process.pid)
    return subprocess.CompletedProcess(command, process.wait(), out, err)


def needs_mounts() -> None:
    tried = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True).returncode:
        pytest.skip("a file system can't be mounted here")


def test_a_full_disk_under_the_runs_folder(tmp_path: Path) -> None:
    needs_mounts()
    (tmp_path / ".unstall").mkdir()
    full = "mount -t tmpfs -o size=8k tmpfs .unstall && (dd if=/dev/zero of=.unstall/fill bs=1k count=64 2>/dev/null; true)"
    done = supervise(tmp_path, EPOCH, before=full)
    assert (done.returncode, done.stdout) == (0, "780\n"), done.stderr
    assert json.loads((tmp_path / "run.json").read_text())["verdict"] == "finished"


def test_a_full_dev_shm(tmp_path: Path) -> None:
    """The training fails, as it would without us; we are not the reason, and say why."""
    needs_mounts()
    done = supervise(tmp_path, EPOCH.replace("1000", "3_000_000"), before="mount -t tmpfs -o size=4m tmpfs /dev/shm")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "CRASHED" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_a_training_that_becomes_another_user(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    code = EPOCH.replace("num_workers=2", "num_workers=0")
    code = code.replace("    class Rows", "    __import__('os').setuid(65534)\n    class Rows")
    done = supervise(tmp_path, code)
    assert (done.returncode, done.stdout) == (0, "780\n"), done.stderr


def test_a_flood_of_processes(tmp_path: Path) -> None:
    flood = """
        import subprocess, sys, time
        end = time.monotonic() + 4
        count = 0
        while time.monotonic() < end:
            subprocess.run([sys.executable, "-S", "-c", ""]) if count % 10 == 0 else subprocess.run(["true"])
            count += 1
        sys.exit(7 if count > 50 else 1)
    """
    done = supervise(tmp_path, flood)
    assert done.returncode == 7
    assert json.loads((tmp_path / "run.json").read_text())["diagnoses"] == []


def test_handlers_of_the_program_stay_its_own(tmp_path: Path) -> None:
    own = """
        import faulthandler, os, signal, sys
        faulthandler.enable(open("faults", "w"))
        seen = []
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        signal.signal(signal.SIGTERM, lambda *_: seen.append(2))
        sys.excepthook = lambda kind, error, trace: print("mine", kind.__name__, seen, flush=True)
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGTERM)
        raise ValueError("x")
    """
    done = supervise(tmp_path, own)
    assert (done.returncode, done.stdout) == (1, "mine ValueError [1, 2]\n")
