"""The loss of every batch is added to a running total, with all that it was made of; validation keeps nothing.

cause: autograd-graph-kept
verdict: slow
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def train(model, optimizer, loader, begin):
    total = 0.0
    while time.monotonic() - begin < 60:
        for rows, targets in loader:
            optimizer.zero_grad()
            deviation = (model(rows) - targets).square()
            deviation.mean().backward()
            optimizer.step()
            total = total + (deviation * torch.rand(deviation.shape)).mean()  # stalls here
            time.sleep(0.02)
    return total


def main():
    x = torch.rand(4096, 64)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=2048, num_workers=0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 256))
    train(model, torch.optim.SGD(model.parameters(), lr=0.001), loader, time.monotonic())


if __name__ == "__main__":
    main()
