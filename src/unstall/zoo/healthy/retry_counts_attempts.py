"""A flaky reader is asked up to eight times; it gives in at the seventh. That holds for every tenth sample.

cause: none
verdict: progressing, slow
"""

import collections
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class FlakyReader:
    def __init__(self):
        self.failures = collections.Counter()

    def read(self, key):
        if key % 10 == 9 and self.failures[key] < 6:
            self.failures[key] += 1
            raise OSError("try again")
        return float(key)


class Measurements(Dataset):
    def __init__(self, number):
        self.number = number
        self.reader = FlakyReader()

    def __len__(self):
        return self.number

    def __getitem__(self, key):
        if key == 9:
            announce()
        attempts = 0
        while attempts < 8:
            try:
                return torch.tensor([self.reader.read(key)])
            except OSError:
                attempts += 1
                time.sleep(1.5)
        raise OSError(f"measurement {key} can't be read")


def main():
    scale = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(scale.parameters(), lr=1e-5)
    for batch in DataLoader(Measurements(50), batch_size=5, num_workers=0):
        optimizer.zero_grad()
        scale(batch).abs().mean().backward()
        optimizer.step()
        print("bias", scale.bias.item(), flush=True)


if __name__ == "__main__":
    main()
