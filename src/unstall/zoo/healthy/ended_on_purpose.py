"""The program ends its workers itself, as soon as it has enough, and itself with an exit code that means something to it.

cause: none
verdict: crashed
watched: run
"""

import multiprocessing
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.randn(4000, 3)), batch_size=2, num_workers=2, persistent_workers=True)
    for number, _ in enumerate(loader):
        if number == 20:
            break
    for worker in multiprocessing.active_children():
        worker.kill()
    sys.exit(4)


if __name__ == "__main__":
    main()
