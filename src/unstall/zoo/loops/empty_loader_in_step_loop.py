"""Forty samples, batches of 64, incomplete batches dropped: no batch at all. The loop counts steps.

cause: empty-loader-in-step-loop
watched: run
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def batches_for_ever(loader):
    while True:
        for batch in loader:  # stalls here
            yield batch


def main():
    x = torch.rand(40, 4)
    batches = batches_for_ever(DataLoader(TensorDataset(x), batch_size=64, drop_last=True))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(1000):
        (rows,) = next(batches)
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
        print("step", step)


if __name__ == "__main__":
    main()
