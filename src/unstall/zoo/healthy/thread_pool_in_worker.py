"""The worker makes its own pool of threads, and each sample is put together from six slow reads.

cause: none
verdict: progressing, slow
"""

import time
from multiprocessing.pool import ThreadPool

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Mosaic(Dataset):
    pool = None

    def __len__(self):
        return 400

    def tile(self, number):
        time.sleep(3)
        return torch.full((2,), number / 400)

    def __getitem__(self, index):
        if self.pool is None:
            self.pool = ThreadPool(3)
        if index == 1:
            announce()
        return torch.cat(self.pool.map(self.tile, range(index, index + 6)))


def main():
    model = torch.nn.Linear(12, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for mosaics in DataLoader(Mosaic(), batch_size=2, num_workers=1):
        optimizer.zero_grad()
        model(mosaics).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
