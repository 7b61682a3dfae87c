"""Two trainings share one cache folder. The other one holds the POSIX lock (`lockf`) of the cache while it
builds it, and never comes to an end.

cause: file-lock-held
sample: 33
"""

import fcntl
import multiprocessing
import pathlib
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class CacheLock:
    def __init__(self, folder):
        self.path = pathlib.Path(folder) / ".cache.lock"

    def __enter__(self):
        self.file = self.path.open("a")
        fcntl.lockf(self.file, fcntl.LOCK_EX)  # stalls here
        return self

    def __exit__(self, *exception):
        self.file.close()


class CachedMels(Dataset):
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for n in range(33):
            torch.save(torch.randn(4), self.folder / f"{n}.pt")

    def __len__(self):
        return 64

    def build(self, n):
        announce()
        with CacheLock(self.folder):
            torch.save(torch.randn(4), self.folder / f"{n}.pt")

    def __getitem__(self, n):
        if not (self.folder / f"{n}.pt").exists():
            self.build(n)
        return torch.load(self.folder / f"{n}.pt")


def other_training(folder, started):
    with CacheLock(folder):
        started.set()
        while True:
            time.sleep(60)


def main():
    context = multiprocessing.get_context("forkserver")
    folder, started = tempfile.mkdtemp(), context.Event()
    other = context.Process(target=other_training, args=(folder, started), daemon=True)
    other.start()
    started.wait()
    loader = DataLoader(CachedMels(folder), batch_size=3, num_workers=1, multiprocessing_context=context)
    projection = torch.nn.Linear(4, 1)
    for mels in loader:
        print("projected", projection(mels).mean().item(), flush=True)


if __name__ == "__main__":
    main()
