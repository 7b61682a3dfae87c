"""Somebody holds the lock of the cache for ever. The workers wait four seconds for it, then do without.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import os
import tempfile
import threading

import torch
from filelock import FileLock, Timeout
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def hold(path, held):
    with FileLock(path):
        held.set()
        threading.Event().wait()


class Cached(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 4:
            announce()
        try:
            with FileLock(self.path, timeout=4 if index % 4 == 0 else 0):
                return torch.tensor([1.0])
        except Timeout:
            return torch.tensor([0.0])


def main():
    path, held = os.path.join(tempfile.mkdtemp(), "cache.lock"), multiprocessing.Event()
    multiprocessing.Process(target=hold, args=(path, held), daemon=True).start()
    held.wait()
    for batch in DataLoader(Cached(path), batch_size=4, num_workers=1):
        print(batch.sum().item(), flush=True)


if __name__ == "__main__":
    main()
