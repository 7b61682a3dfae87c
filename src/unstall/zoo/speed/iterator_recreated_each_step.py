"""Each step asks for "a batch" with next(iter(loader)): a new pair of workers for every step, and always the first batch.

cause: iterator-recreated-each-step
verdict: slow
watched: run
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


class Source:
    def __init__(self, loader):
        self.loader = loader

    def batch(self):
        return next(iter(self.loader))  # stalls here


def main():
    x = torch.rand(400, 8)
    source = Source(DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4, num_workers=2))
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3000):
        rows, targets = source.batch()
        optimizer.zero_grad()
        (model(rows) - targets).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
