"""A folder serves as the lock, because `mkdir` is atomic. The script that made it crashed before it could
remove it.

cause: stale-lockfile
"""

import pathlib
import tempfile
import time
from contextlib import contextmanager

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, default_collate

from unstall.zoo import announce


@contextmanager
def folder_lock(path, pause=0.1):
    acquired = False
    while not acquired:  # stalls here
        try:
            path.mkdir()
            acquired = True
        except FileExistsError:
            time.sleep(pause)
    yield
    path.rmdir()


class Points(Dataset):
    def __init__(self, count):
        self.points = np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return index, self.points[index]


class SavingCollate:
    def __init__(self, folder):
        self.folder = folder

    def __call__(self, samples):
        if samples[0][0] == 24:
            announce()
        with folder_lock(self.folder / f"batch-{samples[0][0]}"):
            np.save(self.folder / "last.npy", samples[-1][1])
        return default_collate(samples)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "batch-24").mkdir()
    loader = DataLoader(
        Points(60),
        batch_size=4,
        num_workers=2,
        collate_fn=SavingCollate(folder),
        multiprocessing_context="spawn",
    )
    centre = torch.zeros(3)
    for _, points in loader:
        centre = 0.9 * centre + 0.1 * points.mean(dim=0)
        print(centre.tolist(), flush=True)


if __name__ == "__main__":
    main()
