"""A thread of the main process holds a lock at the moment when the workers are forked. Each worker gets a
copy of the taken lock, but not of the thread that would release it.

cause: fork-inherited-lock
"""

import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

cache_lock = threading.Lock()
cache = {}


def warm_up(started):
    with cache_lock:
        started.set()
        for key in range(20):
            cache[key] = torch.rand(3)
            time.sleep(0.1)


class Cached(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 0:
            announce()
        with cache_lock:  # stalls here
            return cache.get(index, torch.zeros(3))


def main():
    started = threading.Event()
    threading.Thread(target=warm_up, args=(started,), daemon=True).start()
    started.wait()
    for batch in DataLoader(Cached(), batch_size=8, num_workers=2):
        print(batch.sum().item(), flush=True)


if __name__ == "__main__":
    main()
