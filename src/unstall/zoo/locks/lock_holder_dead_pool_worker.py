"""A process of a `Pool` that preprocesses in the background crashes inside the lock. The pool replaces it in
silence, but the lock is lost: the loader's workers, made with spawn, wait for it.

cause: lock-holder-dead
"""

import multiprocessing
import os

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

shared = {}


def adopt(lock):
    shared["lock"] = lock


def preprocess(item):
    with shared["lock"]:
        if item == 13:
            os._exit(1)
        return item * 2


class Cached(Dataset):
    def __init__(self, lock, size):
        self.lock = lock
        self.size = size
        self.epoch = 0

    def __len__(self):
        return self.size

    def load(self, index):
        with self.lock:  # stalls here
            return torch.arange(index, index + 3, dtype=torch.float32)

    def __getitem__(self, index):
        if self.epoch == 1 and index == 0:
            announce()
        return self.load(index)


def main():
    context = multiprocessing.get_context("spawn")
    lock = context.Lock()
    pool = context.Pool(1, initializer=adopt, initargs=(lock,))
    dataset = Cached(lock, sum(pool.map(preprocess, range(6))))
    loader = DataLoader(dataset, batch_size=5, num_workers=2, multiprocessing_context=context)
    for epoch in range(3):
        dataset.epoch = epoch
        for batch in loader:
            print("epoch", epoch, "sum", batch.sum().item(), flush=True)
        extra = pool.map_async(preprocess, range(10, 16))
        extra.wait(timeout=2)
        print("preprocessed in time:", extra.ready(), flush=True)


if __name__ == "__main__":
    main()
