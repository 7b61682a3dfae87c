"""A loop asks for the lock file's time stamp until that fails, in a function that the training calls between
two epochs. The export that made the file was stopped half-way.

cause: stale-lockfile
"""

import os
import pathlib
import tempfile
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def wait_until_released(marker):
    while True:  # stalls here
        try:
            age = time.time() - os.stat(marker).st_mtime
        except FileNotFoundError:
            break
        print(f"{marker.name} is there for {age:.0f} s", flush=True)
        time.sleep(0.4)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    loader = DataLoader(TensorDataset(torch.randn(20, 2)), batch_size=5, num_workers=1)
    total = 0.0
    for epoch in range(3):
        for (rows,) in loader:
            total += rows.sum().item()
        print("epoch", epoch, total, flush=True)
        if epoch == 1:
            (folder / "export.busy").touch()
            announce()
        wait_until_released(folder / "export.busy")


if __name__ == "__main__":
    main()
