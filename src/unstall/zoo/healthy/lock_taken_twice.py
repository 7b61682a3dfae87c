"""A cache takes its lock in `get` and again in `load`. It is an RLock, so the same thread may.

cause: none
verdict: progressing, slow
"""

import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Cache:
    def __init__(self):
        self.guard = threading.RLock()
        self.values = {}

    def get(self, key):
        with self.guard:
            if key not in self.values:
                self.load(key)
            return self.values[key]

    def load(self, key):
        with self.guard:
            time.sleep(0.4)
            self.values[key] = torch.tensor([float(key), 1.0])


class Cached(Dataset):
    def __init__(self, number):
        self.cache = Cache()
        self.number = number

    def __len__(self):
        return self.number

    def __getitem__(self, key):
        if key == 5:
            announce()
        return self.cache.get(key)


def main():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for batch in DataLoader(Cached(100), batch_size=5):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
