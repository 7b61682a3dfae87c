"""A dataset within a dataset keeps a lock. The workers come from the fork server.

cause: spawn-not-picklable
verdict: crashed
watched: run
"""

import threading

import torch
from torch.utils.data import DataLoader, Dataset, Subset


class Cached(Dataset):
    def __init__(self):
        self.cache = {}
        self.guard = threading.Lock()  # stalls here

    def __len__(self):
        return 40

    def __getitem__(self, index):
        with self.guard:
            return self.cache.setdefault(index, torch.ones(3) * index)


def main():
    loader = DataLoader(Subset(Cached(), range(20)), num_workers=2, multiprocessing_context="forkserver")
    for batch in loader:
        assert batch.shape == (1, 3)


if __name__ == "__main__":
    main()
