"""Decoded images are remembered in a dictionary of the dataset: in each of the two workers.

cause: per-worker-cache-grows
verdict: slow
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.decoded = {}

    def __len__(self):
        return 3000

    def __getitem__(self, index):
        if index not in self.decoded:
            self.decoded[index] = torch.rand(90_000)  # stalls here
        return self.decoded[index][:100]


def main():
    model = torch.nn.Linear(100, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Images(), batch_size=4, num_workers=2, shuffle=True, persistent_workers=True)
    begin = time.monotonic()
    while time.monotonic() - begin < 40:
        for rows in loader:
            optimizer.zero_grad()
            model(rows).square().mean().backward()
            optimizer.step()
            time.sleep(0.02)


if __name__ == "__main__":
    main()
