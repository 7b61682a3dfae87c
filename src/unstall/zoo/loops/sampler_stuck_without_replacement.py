"""A sampler draws as many different indices as it was asked for, and was asked for more than there are.

cause: sampler-stuck
"""

import random

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from unstall.zoo import announce


class Squares(Dataset):
    def __len__(self):
        return 90

    def __getitem__(self, x):
        return torch.tensor([float(x)]), torch.tensor([float(x * x)])


class DistinctSampler(Sampler):
    def __init__(self, source, number):
        self.source = source
        self.number = number

    def draw_new(self, used):
        if len(used) == len(self.source):
            announce()
        for candidate in iter(lambda: random.randrange(len(self.source)), -1):  # stalls here
            if candidate not in used:
                return candidate

    def __iter__(self):
        used = set()
        for _ in range(self.number):
            index = self.draw_new(used)
            used.add(index)
            yield index


def main():
    squares = Squares()
    loader = DataLoader(squares, batch_size=16, sampler=DistinctSampler(squares, 100), drop_last=True)
    polynomial = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.Adam([polynomial], lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = (polynomial[0] * x + polynomial[1] - y).abs().mean()
        loss.backward()
        optimizer.step()
        print("mean error", loss.item())


if __name__ == "__main__":
    main()
