"""Several models are trained at the same time, by a pool. Each of them wants workers for its data.

cause: daemonic-process-children
verdict: crashed
watched: run
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, TensorDataset


def train(rate):
    rows = TensorDataset(torch.randn(40, 2))
    weight = torch.zeros(2, requires_grad=True)
    for (batch,) in DataLoader(rows, batch_size=4, num_workers=2):  # stalls here
        (batch @ weight).sum().backward()
        with torch.no_grad():
            weight -= rate * weight.grad
    return float(weight.sum())


def main():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(train, [0.1, 0.01]))


if __name__ == "__main__":
    main()
