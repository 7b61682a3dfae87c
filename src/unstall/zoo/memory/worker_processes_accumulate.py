"""A loader with persistent workers is made for each validation, and the report of that validation keeps it.

cause: worker-processes-accumulate
verdict: slow
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


class Report:
    def __init__(self, loader, loss):
        self.loader, self.loss = loader, loss


def validate(model, data):
    loader = DataLoader(data, batch_size=16, num_workers=2, persistent_workers=True)
    total = 0.0
    with torch.no_grad():
        for x, y in loader:  # stalls here
            total += (model(x) - y).square().mean().item()
    return Report(loader, total)


def main():
    x = torch.rand(64, 4)
    data = TensorDataset(x, x.sum(1, keepdim=True))
    held_out = TensorDataset(x[:32], x[:32].sum(1, keepdim=True))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    train = DataLoader(data, batch_size=8, num_workers=1, persistent_workers=True)
    reports = []
    for _ in range(14):
        for rows, targets in train:
            optimizer.zero_grad()
            (model(rows) - targets).square().mean().backward()
            optimizer.step()
            time.sleep(0.05)
        reports.append(validate(model, held_out))
    time.sleep(60)


if __name__ == "__main__":
    main()
