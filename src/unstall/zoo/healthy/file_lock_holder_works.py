"""A process tidies up a folder under its lock for ten seconds again and again, with short pauses. Workers wait.

cause: none
verdict: progressing, slow
"""

import fcntl
import multiprocessing
import os
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def tidy(path, begun):
    for _ in range(12):
        with open(path, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            begun.set()
            for _ in range(25):
                time.sleep(0.4)
        time.sleep(0.2)


class Folder(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 24

    def __getitem__(self, index):
        if index == 0:
            announce()
        with open(self.path, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return torch.tensor([index])


def main():
    path = os.path.join(tempfile.mkdtemp(), "lock")
    begun = multiprocessing.Event()
    multiprocessing.Process(target=tidy, args=(path, begun), daemon=True).start()
    begun.wait()
    for indices in DataLoader(Folder(path), batch_size=2, num_workers=2):
        print(indices.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
