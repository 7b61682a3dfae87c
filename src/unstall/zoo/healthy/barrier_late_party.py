"""Workers meet the main process at a barrier; the last one needs ten seconds to get there.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Meeting:
    def __init__(self, parties):
        self.barrier = multiprocessing.Barrier(parties)

    def __call__(self, worker_id):
        if worker_id == 1:
            announce()
            total = 0
            until = time.monotonic() + 12
            while time.monotonic() < until:  # it unpacks its part of the data
                total += sum(range(1000))
        self.barrier.wait()


def main():
    loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, num_workers=2, worker_init_fn=Meeting(2))
    model = torch.nn.Linear(4, 1)
    for (x,) in loader:
        model(x).sum().backward()
        time.sleep(0.1)


if __name__ == "__main__":
    main()
