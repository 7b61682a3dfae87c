"""A helper that was made for the command line ends the process when it finds no file.

cause: worker-exited
sample: 14
verdict: crashed
watched: run
"""

import sys

import torch
from torch.utils.data import DataLoader, Dataset


def read_config(number):
    if number == 14:
        print("no such configuration", file=sys.stderr)
        sys.exit(2)  # stalls here
    return torch.ones(4) * number


class Configs(Dataset):
    def __len__(self):
        return 50

    def __getitem__(self, index):
        return read_config(index)


def main():
    for batch in DataLoader(Configs(), batch_size=5, num_workers=2):
        assert batch.shape == (5, 4)


if __name__ == "__main__":
    main()
