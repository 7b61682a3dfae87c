"""A generator counts upwards until it finds a free slot, and a row that is completely taken has none.

cause: infinite-loop-in-getitem
sample: 18
"""

from itertools import count

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, row):
        for step in self.steps:
            row = step(row)
        return row


class Normalise:
    def __call__(self, row):
        return row / row.max().clamp(min=1)


class FillGaps:
    """Put a 0.5 into the first two empty places."""

    def free_places(self, row):
        for turn in count():  # stalls here
            if row[turn % len(row)] == 0:
                yield turn % len(row)

    def __call__(self, row):
        places = self.free_places(row)
        for _ in range(2):
            row[next(places)] = 0.5
        return row


class Rows(Dataset):
    def __init__(self, transform):
        self.table = torch.ones(80, 16).tril(-64) + torch.eye(80, 16)
        self.table[18] = 2.0
        self.transform = transform

    def __len__(self):
        return len(self.table)

    def __getitem__(self, item):
        row = self.table[item].clone()
        if item == 18:
            announce()
        return self.transform(row)


def main():
    data = Rows(Compose(Normalise(), FillGaps()))
    loader = DataLoader(data, batch_size=2, num_workers=4, multiprocessing_context="forkserver")
    total = 0.0
    for n, rows in enumerate(loader, 1):
        total += rows.mean().item()
        print(n, "batches, mean", total / n, flush=True)


if __name__ == "__main__":
    main()
