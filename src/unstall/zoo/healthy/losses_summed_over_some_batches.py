"""The graphs of eight batches are kept, for one backward() over all of them; then they are given up.

cause: none
verdict: progressing, slow, finished
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.set_num_threads(1)
    loader = DataLoader(TensorDataset(torch.rand(4096, 64)), batch_size=512, num_workers=1, persistent_workers=True)
    model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    begin = time.monotonic()
    losses = []
    while time.monotonic() - begin < 25:
        for (rows,) in loader:
            losses.append(model(rows).square().mean())
            if len(losses) == 24:
                optimizer.zero_grad()
                torch.stack(losses).sum().backward()
                optimizer.step()
                losses.clear()


if __name__ == "__main__":
    main()
