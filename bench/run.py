"""What supervision costs: a training with and without `unstall run`, in turns.

    python bench/run.py [rounds]

Each program makes small batches as fast as it can, and measures its own loop; medians, and the ratio of neighbours.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 7
PROGRAM = """
import sys, time, torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self): return 64_000
    def __getitem__(self, index): return torch.full((16,), float(index % 7))
model = torch.nn.Linear(16, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
torch.set_num_threads(1)
workers, milliseconds = int(sys.argv[1]), float(sys.argv[2])
batches = iter(DataLoader(Rows(), batch_size=8, num_workers=workers))
for _ in range(50): next(batches)
began, count = time.perf_counter(), 0
while time.perf_counter() - began < 2.5:
    x = next(batches, None)
    if x is None: break
    optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
    until = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < until: pass
    count += 1
print(count / (time.perf_counter() - began))
"""
CASES = {
    "no workers, as fast as it can": ("0", "0"),
    "no workers, 1 ms of computing": ("0", "1"),
    "2 workers": ("2", "0"),
}


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    print(f"{'batches per second':34} {'bare':>8} {'supervised':>11} {'ratio':>8} {'bare twice':>11}")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "train.py"
        program.write_text(PROGRAM)

        def rate(*before: str, case: tuple[str, str]) -> float:
            command = [sys.executable, *before, str(program), *case]
            return float(subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True).stdout)

        for name, case in CASES.items():
            bare, ratios, same = [], [], []
            for _ in range(rounds):
                bare.append(rate(case=case))
                ratios.append(rate("-m", "unstall", "run", case=case) / bare[-1])
                same.append(rate(case=case) / bare[-1])
            middle = [statistics.median(one) for one in (bare, ratios, same)]
            print(
                f"{name:34} {middle[0]:8.0f} {middle[0] * middle[1]:11.0f} {middle[1]:8.1%} {middle[2]:11.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
