"""A worker leaves with exit code 0, without any cleaning up. The training sees only that a connection was cut.

cause: worker-exited
sample: 31
verdict: crashed
watched: run
"""

import os

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 31:
            os._exit(0)  # stalls here
        return torch.ones(1000) * index


def main():
    model = torch.nn.Linear(1000, 1)
    for epoch in range(2):
        for batch in DataLoader(Rows(), batch_size=4, num_workers=2, multiprocessing_context="forkserver"):
            model(batch).sum().backward()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
