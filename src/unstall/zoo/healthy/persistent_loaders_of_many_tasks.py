"""Six tasks, each with a loader and persistent workers of its own, each begun when its turn comes.

cause: none
verdict: progressing, slow, finished
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loaders = [
        DataLoader(TensorDataset(torch.rand(64, 4)), batch_size=4, num_workers=2, persistent_workers=True)
        for _ in range(6)
    ]
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    begin = time.monotonic()
    streams = {}
    while time.monotonic() - begin < 25:
        for task, loader in enumerate(loaders):
            batch = next(streams[task], None) if task in streams else None
            if batch is None:
                streams[task] = iter(loader)
                batch = next(streams[task])
            optimizer.zero_grad()
            model(batch[0]).mean().backward()
            optimizer.step()
            time.sleep(0.02)


if __name__ == "__main__":
    main()
