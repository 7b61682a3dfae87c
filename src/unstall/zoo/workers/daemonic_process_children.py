"""The dataset decodes with a pool of processes. In a worker that is not allowed.

cause: daemonic-process-children
sample: 0
verdict: crashed
watched: run
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset


def decode(part):
    return part * 2.0


class Parts(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        with multiprocessing.Pool(2) as pool:  # stalls here
            return torch.tensor(pool.map(decode, [index, index + 1]))


def main():
    for batch in DataLoader(Parts(), batch_size=2, num_workers=1):
        assert batch.shape == (2, 2)


if __name__ == "__main__":
    main()
