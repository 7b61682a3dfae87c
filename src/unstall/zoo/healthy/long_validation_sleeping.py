"""Validation takes 25 seconds because its loader reads slowly.

The persistent workers of the training have nothing to do meanwhile.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Points(Dataset):
    def __init__(self, number, delay):
        self.points = torch.randn(number, 2)
        self.delay = delay

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        time.sleep(self.delay)
        return self.points[i], self.points[i].prod()


def validate(model, loader):
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += (model(x).squeeze(1) - y).abs().sum().item()
    return total


def main():
    train_loader = DataLoader(Points(100, 0), batch_size=10, num_workers=2, persistent_workers=True)
    valid_loader = DataLoader(Points(100, 0.25), batch_size=10)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for x, y in train_loader:
            loss = (model(x).squeeze(1) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch == 0:
            announce()
        print("epoch", epoch, "validation", validate(model, valid_loader), flush=True)


if __name__ == "__main__":
    main()
