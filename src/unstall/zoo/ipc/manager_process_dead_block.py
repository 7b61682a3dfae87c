"""A function makes a list of a Manager, and returns it. The Manager is gone when its block ends.

cause: manager-process-dead
verdict: crashed
watched: run
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, TensorDataset


def shared_list():
    with multiprocessing.Manager() as manager:
        return manager.list()


def main():
    losses = shared_list()
    rows = TensorDataset(torch.randn(40, 2))
    weight = torch.zeros(2, requires_grad=True)
    for (batch,) in DataLoader(rows, batch_size=4):
        loss = (batch @ weight).square().mean()
        loss.backward()
        losses.append(float(loss))  # stalls here


if __name__ == "__main__":
    main()
