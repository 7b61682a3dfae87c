"""A container with a small /dev/shm: two workers with large batches fill it.

cause: shm-exhausted
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo.memory import _small


class Volumes(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.rand(1, 512, 512)


def main():
    _small.shared_memory(24)
    for batch in DataLoader(Volumes(), batch_size=4, num_workers=2, prefetch_factor=4):  # stalls here
        torch.svd(batch[0, 0])


if __name__ == "__main__":
    main()
