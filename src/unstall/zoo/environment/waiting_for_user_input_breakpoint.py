"""A forgotten `breakpoint()` waits in the check for bad losses, and a loss is not a number for the first
time.

cause: waiting-for-user-input
"""

import math

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Ratios(Dataset):
    def __init__(self, denominators):
        self.denominators = torch.tensor(denominators)

    def __len__(self):
        return len(self.denominators)

    def __getitem__(self, i):
        return (self.denominators[i] - self.denominators[i]) / self.denominators[i]


def check(loss):
    if math.isnan(loss):
        announce()
        breakpoint()  # stalls here


class LitModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def training_step(self, ratios):
        loss = (self.scale * ratios).mean()
        check(loss.item())
        return loss


def fit(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for ratios in loader:
        optimizer.zero_grad()
        model.training_step(ratios).backward()
        optimizer.step()
        print("scale", model.scale.item(), flush=True)


def main():
    denominators = [1.0, 2.0, 4.0] * 8 + [0.0] + [3.0] * 15
    fit(LitModel(), DataLoader(Ratios(denominators), batch_size=4, num_workers=1, persistent_workers=True))


if __name__ == "__main__":
    main()
