"""The worker of one rank takes a lock twice: its dataset has an index of its own. The other rank is in its barrier
after every batch.

cause: one-rank-stuck-in-data
also: lock-self-deadlock
sample: 10
"""

import os
import threading

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


class Shard(Dataset):
    def __init__(self, rank):
        self.rank = rank
        self.lock = threading.Lock()

    def __len__(self):
        return 24

    def read(self, index):
        with self.lock:  # stalls here
            return float(index)

    def __getitem__(self, index):
        if (self.rank, index) == (0, 10):
            with self.lock:
                announce()
                return self.read(index)
        return self.read(index)


def main():
    dist.init_process_group("gloo")
    for batch in DataLoader(Shard(dist.get_rank()), batch_size=4, num_workers=1):
        assert batch.shape == torch.Size([4])
        dist.barrier()


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
