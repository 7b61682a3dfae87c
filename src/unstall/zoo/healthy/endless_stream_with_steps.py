"""An endless stream, and a training that counts its steps: it ends.

cause: none
verdict: progressing, slow
"""

import itertools

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Stream(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.rand(16)


def main():
    model = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for step, x in enumerate(itertools.islice(DataLoader(Stream(), batch_size=8), 60_000)):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            if step == 200 and epoch == 0:
                announce()
        print("epoch", epoch)
    for step, x in enumerate(DataLoader(Stream(), batch_size=8)):
        if step >= 60_000:
            break
        model(x)


if __name__ == "__main__":
    main()
