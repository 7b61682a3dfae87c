"""Two million rows as tuples of strings; each worker reads many of them for each sample.

cause: copy-on-write-refcounts
verdict: slow
watched: run
"""

import random
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self):
        self.rows = [(f"left {number}", f"right {number}") for number in range(1_500_000)]  # stalls here

    def __len__(self):
        return 20_000

    def __getitem__(self, index):
        draw = random.Random(index)
        picked = [self.rows[draw.randrange(len(self.rows))] for _ in range(200)]
        return torch.tensor([float(len(left) + len(right)) for left, right in picked])


def main():
    model = torch.nn.Linear(200, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    begin = time.monotonic()
    loader = DataLoader(Pairs(), batch_size=4, num_workers=2, persistent_workers=True)
    while time.monotonic() - begin < 60:
        for rows in loader:
            optimizer.zero_grad()
            model(rows).square().mean().backward()
            optimizer.step()
            time.sleep(0.005)


if __name__ == "__main__":
    main()
