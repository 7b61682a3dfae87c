"""Each worker remembers up to a hundred decoded chunks, and drops the oldest.

cause: none
verdict: progressing, slow, finished
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class Chunks(Dataset):
    def __init__(self):
        self.recent = {}

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        chunk = index // 8
        if chunk not in self.recent:
            self.recent[chunk] = torch.rand(400_000)
            if len(self.recent) > 100:
                self.recent.pop(next(iter(self.recent)))
        return self.recent[chunk][:50]


def main():
    model = torch.nn.Linear(50, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    begin = time.monotonic()
    for rows in DataLoader(Chunks(), batch_size=8, num_workers=2):
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
        time.sleep(0.01)
        if time.monotonic() - begin > 25:
            break


if __name__ == "__main__":
    main()
