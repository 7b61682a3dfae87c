"""A dataset keeps a lambda as its transform. The workers are started by spawn.

cause: spawn-not-picklable
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self, rows, transform):
        self.rows = rows
        self.transform = transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.transform(self.rows[index])


def main():
    scale = lambda row: row / 255  # noqa: E731  # stalls here
    loader = DataLoader(Scaled(torch.rand(40, 4), scale), batch_size=4, num_workers=2, multiprocessing_context="spawn")
    for batch in loader:
        assert batch.shape == (4, 4)


if __name__ == "__main__":
    main()
