"""Another process compacts the index under a file lock now and then.

It takes five seconds each time, and the workers wait for it.

cause: none
verdict: progressing, slow
"""

import contextlib
import fcntl
import multiprocessing
import os
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


@contextlib.contextmanager
def locked(path):
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compact(path, started, rounds):
    for number in range(rounds):
        with locked(path):
            if number == 0:
                started.set()
                announce()
            time.sleep(5)
        time.sleep(3)


class Table(Dataset):
    def __init__(self, path, rows):
        self.path, self.rows = path, rows

    def __len__(self):
        return self.rows

    def __getitem__(self, row):
        with locked(self.path):
            time.sleep(0.05)
        return torch.tensor([float(row)])


def main():
    path = os.path.join(tempfile.mkdtemp(), "index.lock")
    started = multiprocessing.Event()
    compactor = multiprocessing.Process(target=compact, args=(path, started, 5), daemon=True)
    compactor.start()
    started.wait()
    loader = DataLoader(Table(path, 320), batch_size=4, num_workers=2)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        print("rows to", int(batch.max()), flush=True)
    compactor.join()


if __name__ == "__main__":
    main()
