"""The workers guard the cache with the `filelock` library, which has no time limit by default. A clean-up job
of the team holds the same lock.

cause: file-lock-held
sample: 17
"""

import os
import subprocess
import sys
import tempfile

import torch
from filelock import FileLock
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

CLEAN_UP = """
import sys, threading
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("cleaning", flush=True)
    threading.Event().wait()
"""


class CachedFeatures(Dataset):
    def __init__(self, cache):
        self.cache = cache

    def __len__(self):
        return 36

    def download(self, index):
        announce()
        with FileLock(os.path.join(self.cache, "cache.lock")):  # stalls here
            torch.save(torch.full((2,), float(index)), os.path.join(self.cache, f"{index}.pt"))

    def __getitem__(self, index):
        if index == 17:
            self.download(index)
        return torch.full((2,), float(index))


def main():
    cache = tempfile.mkdtemp()
    arguments = [sys.executable, "-c", CLEAN_UP, os.path.join(cache, "cache.lock")]
    job = subprocess.Popen(arguments, stdout=subprocess.PIPE, start_new_session=False)
    job.stdout.readline()
    loader = DataLoader(CachedFeatures(cache), batch_size=4, num_workers=2, multiprocessing_context="spawn")
    for features in loader:
        print(features.mean().item(), flush=True)


if __name__ == "__main__":
    main()
