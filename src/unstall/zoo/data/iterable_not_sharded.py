"""A stream of numbered lines, read by three workers: each of them reads all.

cause: iterable-not-sharded
verdict: not-learning
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for number in range(self.count):  # stalls here
            yield {"x": torch.tensor([number / self.count]), "name": f"line {number}"}


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        for batch in DataLoader(Lines(400), batch_size=8, num_workers=3):
            optimizer.zero_grad()
            model(batch["x"]).square().mean().backward()
            optimizer.step()
            time.sleep(0.02)


if __name__ == "__main__":
    main()
