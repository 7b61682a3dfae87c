"""`FeatureStore.read` holds the store's lock and asks `self.nbytes()`, which takes the same `threading.Lock`.
The data is loaded in the training process itself.

cause: lock-self-deadlock
sample: 37
"""

import threading

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class FeatureStore:
    def __init__(self, limit):
        self._mutex = threading.Lock()
        self._arrays = {}
        self._limit = limit

    def nbytes(self):
        self._mutex.acquire()  # stalls here
        try:
            return sum(array.nbytes for array in self._arrays.values())
        finally:
            self._mutex.release()

    def read(self, key):
        with self._mutex:
            if key not in self._arrays:
                self._arrays[key] = np.random.default_rng(key).random(16, dtype=np.float32)
            if len(self._arrays) > self._limit:
                announce()
                print(f"cache is full: {self.nbytes()} bytes")
                self._arrays.clear()
            return self._arrays.get(key)


class Features(Dataset):
    def __init__(self, store):
        self.store = store

    def __len__(self):
        return 128

    def __getitem__(self, position):
        return torch.from_numpy(self.store.read(position)), position % 2


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.criterion = torch.nn.CrossEntropyLoss()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            self._run_epoch(epoch, loader)

    def _run_epoch(self, epoch, loader):
        for number, (features, labels) in enumerate(loader):
            print(f"epoch {epoch} batch {number} loss {self._step(features, labels):.3f}", flush=True)

    def _step(self, features, labels):
        self.optimizer.zero_grad()
        loss = self.criterion(self.net(features), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    loader = DataLoader(Features(FeatureStore(limit=37)), batch_size=8, num_workers=0)
    Trainer(torch.nn.Linear(16, 2)).fit(loader, epochs=2)


if __name__ == "__main__":
    main()
