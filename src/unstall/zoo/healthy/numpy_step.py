"""Each step solves an assignment with plain numpy in the training loop, without help from the workers.

cause: none
verdict: progressing, slow
"""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Pairs(Dataset):
    def __init__(self, number):
        self.left = torch.randn(number, 300, 6)

    def __len__(self):
        return len(self.left)

    def __getitem__(self, n):
        return self.left[n], self.left[n][torch.randperm(300)]


def sinkhorn(cost, rounds):
    kernel = np.exp(-cost / cost.mean())
    u = np.ones(kernel.shape[0])
    for _ in range(rounds):
        v = 1 / (kernel.T @ u)
        u = 1 / (kernel @ v)
    return u[:, None] * kernel * v[None, :]


def main():
    loader = DataLoader(Pairs(210), batch_size=3, num_workers=2, persistent_workers=True)
    encoder = torch.nn.Linear(6, 6)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
    for step, (left, right) in enumerate(loader):
        if step == 2:
            announce()
        loss = 0.0
        for a, b in zip(encoder(left), right, strict=True):
            cost = torch.cdist(a, b)
            plan = sinkhorn(cost.detach().numpy().astype(np.float64), rounds=12_000)
            loss = loss + (cost * torch.from_numpy(plan).float()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step, "cost", loss.item(), flush=True)


if __name__ == "__main__":
    main()
