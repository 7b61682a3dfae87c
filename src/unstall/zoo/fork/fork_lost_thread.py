"""A thread pool is made and used in the main process. The forked worker gets the pool object without its
threads, so what it submits is never run.

cause: fork-lost-thread
sample: 0
"""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

pool = ThreadPoolExecutor(max_workers=1)


def read_size(index):
    return 10 + index % 7


class Sized(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        announce()
        size = pool.submit(read_size, index).result()  # stalls here
        return torch.tensor([float(size)])


def main():
    print("the first sizes are", list(pool.map(read_size, range(3))), flush=True)
    for batch in DataLoader(Sized(32), batch_size=4, num_workers=1):
        print(batch.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
