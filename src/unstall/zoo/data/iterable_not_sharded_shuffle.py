"""Records go through a shuffling buffer whose generator has a fixed seed; numpy rows, no automatic batches.

cause: iterable-not-sharded
verdict: not-learning
watched: run
"""

import random
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset


class Shuffled(IterableDataset):
    def __init__(self, rows, size=32):
        super().__init__()
        self.rows, self.size = rows, size

    def _records(self):
        yield from self.rows

    def __iter__(self):
        draw = random.Random(7)
        buffer = []
        for row in self._records():  # stalls here
            buffer.append(row)
            if len(buffer) == self.size:
                yield buffer.pop(draw.randrange(self.size))
        yield from buffer


def main():
    rows = np.random.default_rng(0).normal(size=(600, 5)).astype("float32")
    model = torch.nn.Linear(5, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for row in DataLoader(Shuffled(rows), batch_size=None, num_workers=2, persistent_workers=True):
        optimizer.zero_grad()
        model(row).square().mean().backward()
        optimizer.step()
        time.sleep(0.01)


if __name__ == "__main__":
    main()
