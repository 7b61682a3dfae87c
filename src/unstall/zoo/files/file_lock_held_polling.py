"""A lock class tries a non-blocking `flock` twenty times a second, as popular libraries do, for as long as
another process keeps the file locked.

cause: file-lock-held
sample: 8
"""

import fcntl
import multiprocessing as mp
import os
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class FileLock:
    def __init__(self, path, poll=0.05):
        self.path = path
        self.poll = poll
        self.descriptor = None

    def try_acquire(self):
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            self.descriptor = descriptor

    def __enter__(self):
        self.try_acquire()
        while self.descriptor is None:  # stalls here
            time.sleep(self.poll)
            self.try_acquire()

    def __exit__(self, *exception):
        os.close(self.descriptor)
        self.descriptor = None


class HubDataset(Dataset):
    def __init__(self, cache):
        self.cache = cache

    def __len__(self):
        return 32

    def __getitem__(self, index):
        if index % 8 == 0 and index > 0:
            announce()
            with FileLock(os.path.join(self.cache, "part.lock")):
                print("downloading part", index // 8)
        return torch.tensor([index / 32.0])


def download_everything(cache, begun):
    with FileLock(os.path.join(cache, "part.lock")):
        begun.set()
        time.sleep(100000)


def main():
    cache, begun = tempfile.mkdtemp(), mp.Event()
    mp.Process(target=download_everything, args=(cache, begun), daemon=True).start()
    begun.wait()
    for batch in DataLoader(HubDataset(cache), batch_size=2, num_workers=1):
        print(batch.sum().item(), flush=True)


if __name__ == "__main__":
    main()
