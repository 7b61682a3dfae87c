"""A batch sampler draws groups until one has enough samples left for a batch, and in the end none has.

cause: sampler-stuck
"""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class GroupedBatches:
    def __init__(self, groups, batch_size):
        self.groups = groups
        self.batch_size = batch_size

    def __len__(self):
        return sum(len(group) for group in self.groups) // self.batch_size

    def __iter__(self):
        left = [list(group) for group in self.groups]
        for _ in range(len(self)):
            if all(len(group) < self.batch_size for group in left):
                announce()
            batch = []
            while len(batch) < self.batch_size:  # stalls here
                group = random.choice(left)
                if len(group) >= self.batch_size:
                    batch = [group.pop() for _ in range(self.batch_size)]
            yield batch


def main():
    data = TensorDataset(torch.randn(60, 4))
    sampler = GroupedBatches([range(0, 22), range(22, 44), range(44, 60)], batch_size=4)
    loader = DataLoader(data, batch_sampler=sampler, num_workers=2)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, (batch,) in enumerate(loader):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
