"""A thread compacts the table for seconds, between `begin()` and `end()`, which take and release its lock.

cause: none
verdict: progressing, slow
"""

import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Table:
    def __init__(self):
        self._mutex = threading.Lock()
        self.total = 0.0

    def begin(self):
        self._mutex.acquire()

    def end(self):
        self._mutex.release()

    def add(self, amount):
        self.begin()
        self.total += amount
        self.end()


def compact(table):
    while True:
        table.begin()
        announce()
        time.sleep(9)
        table.total = 0.0
        table.end()
        time.sleep(0.2)


class Ones(Dataset):
    def __len__(self):
        return 10**8

    def __getitem__(self, index):
        return torch.ones(1)


def main():
    table = Table()
    threading.Thread(target=compact, args=(table,), daemon=True).start()
    model = torch.nn.Linear(1, 1)
    for ones in DataLoader(Ones(), batch_size=4):
        loss = model(ones).square().mean()
        loss.backward()
        table.add(loss.item())


if __name__ == "__main__":
    main()
