"""Between two epochs, when the workers have gone, the metrics of all predictions take 15 seconds to compute.

cause: none
verdict: progressing, slow
"""

import itertools
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def bootstrap(values, seconds):
    """Mean of medians of random halves, for as long as there is time."""
    end = time.process_time() + seconds
    medians = []
    for _ in itertools.takewhile(lambda _: time.process_time() < end, itertools.count()):
        half = values[torch.randperm(len(values))[: len(values) // 2]]
        medians.append(sorted(half.tolist())[len(half) // 2])
    return sum(medians) / len(medians)


def main():
    loader = DataLoader(TensorDataset(torch.randn(600, 4)), batch_size=20, num_workers=4)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        losses = []
        for (x,) in loader:
            loss = (model(x) - x.sum(1, keepdim=True)).square()
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()
            losses.append(loss.detach().flatten())
        if epoch == 0:
            announce()
        print("epoch", epoch, "median", bootstrap(torch.cat(losses), seconds=15), flush=True)


if __name__ == "__main__":
    main()
