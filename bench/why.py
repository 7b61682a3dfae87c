"""What a look costs: seconds from command to verdict, and the step rate of a training that is looked at.

    python bench/why.py [rounds]

The step rate is measured in windows of the same length, with and without a look in turns, on two healthy trainings: one
without workers and one with two. What counts is the median of the ratios of neighbouring windows. "Two windows without
a look" shows how much the machine's own noise makes of it.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from unstall.workflows.demo import find, stuck

ROUNDS = 8
WINDOW_S = 2.6
STUCK = ("lock-self-deadlock", "file-lock-held", "infinite-loop-in-getitem", "native-code-runs-forever")
TRAINING = """
import sys, torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self): return 10**9
    def __getitem__(self, index):
        return torch.full((64,), float(index % 7)), torch.tensor(float(sum(i * i for i in range(200)) % 3))
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
torch.set_num_threads(1)
with open(sys.argv[1], "wb", buffering=0) as count:
    for step, (x, y) in enumerate(DataLoader(Rows(), batch_size=8, num_workers=int(sys.argv[2]))):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x).squeeze(1), y).backward()
        optimizer.step()
        count.seek(0)
        count.write(b"%12d" % step)
"""


def look(pid: int) -> float:
    """One look by a fresh command; the seconds that it takes."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "unstall", "why", str(pid)], stdout=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def verdicts(rounds: int) -> None:
    """Seconds from command to verdict."""
    print(f"{'from command to verdict, s':44} {'median':>7}   smallest to largest")
    for slug in STUCK:
        with stuck(find(slug)) as pid:
            look(pid)
            times = [look(pid) for _ in range(rounds)]
        print(f"{slug:44} {statistics.median(times):7.2f}   {min(times):.2f} to {max(times):.2f}", flush=True)


def steps_in_window(count: Path, pid: int | None) -> float:
    """The training's steps per second in one window; with a look in it if a pid is given."""
    began, first = time.monotonic(), int(count.read_text())
    if pid is not None:
        look(pid)
    time.sleep(max(0.0, WINDOW_S - (time.monotonic() - began)))
    return (int(count.read_text()) - first) / (time.monotonic() - began)


def patients(rounds: int) -> None:
    """The step rate of a healthy training with a look, by that without."""
    print(f"\n{'step rate':44} {'steps/s':>8} {'looked at':>10} {'two windows without a look':>28}")
    for workers in (0, 2):
        with tempfile.TemporaryDirectory() as folder:
            count = Path(folder) / "count"
            count.write_text("0")
            program = Path(folder) / "training.py"
            program.write_text(TRAINING)
            command = [sys.executable, str(program), str(count), str(workers)]
            training = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
            try:
                while int(count.read_text() or 0) < 50:
                    time.sleep(0.1)
                plain: list[float] = []
                looked: list[float] = []
                same: list[float] = []
                for _ in range(rounds):
                    plain.append(steps_in_window(count, None))
                    looked.append(steps_in_window(count, training.pid) / plain[-1])
                    same.append(steps_in_window(count, None) / plain[-1])
            finally:
                os.killpg(training.pid, signal.SIGKILL)
                training.wait()
        name = f"healthy training, num_workers={workers}"
        rate, ratio, noise = (statistics.median(one) for one in (plain, looked, same))
        print(f"{name:44} {rate:8.0f} {ratio:9.1%} {noise:27.1%}", flush=True)


def main() -> None:
    """Print both tables."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    verdicts(rounds)
    patients(rounds)


if __name__ == "__main__":
    main()
