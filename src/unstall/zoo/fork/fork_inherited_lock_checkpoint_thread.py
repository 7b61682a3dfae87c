"""Checkpoints are written by a thread that holds the lock of the normaliser. The evaluation loader forks its
worker just then, and every evaluation sample asks the normaliser.

cause: fork-inherited-lock
sample: 0
"""

import tempfile
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Normaliser:
    def __init__(self):
        self.guard = threading.Condition(threading.Lock())
        self.mean = torch.zeros(2)

    def update(self, batch):
        self.guard.acquire()
        self.mean += 0.1 * (batch.mean(dim=0) - self.mean)
        self.guard.release()

    def __call__(self, x):
        self.guard.acquire()  # stalls here
        try:
            return x - self.mean
        finally:
            self.guard.release()

    def save(self, path, begun):
        with self.guard:
            begun.set()
            torch.save(self.mean, path)
            time.sleep(1.5)


class Points(Dataset):
    def __init__(self, count, transform=None):
        self.points = torch.randn(count, 2) + 3
        self.transform = transform

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        if self.transform is None:
            return self.points[index]
        announce()
        return self.transform(self.points[index])


def main():
    normaliser, folder = Normaliser(), tempfile.mkdtemp()
    train = DataLoader(Points(80), batch_size=8, num_workers=2, persistent_workers=True)
    evaluation = DataLoader(Points(16, transform=normaliser), batch_size=4, num_workers=1)
    for epoch in range(2):
        for batch in train:
            normaliser.update(batch)
        print("mean", normaliser.mean.tolist(), flush=True)
        begun = threading.Event()
        threading.Thread(target=normaliser.save, args=(f"{folder}/{epoch}.pt", begun)).start()
        begun.wait()
        for points in evaluation:
            print("evaluation", points.norm().item(), flush=True)


if __name__ == "__main__":
    main()
