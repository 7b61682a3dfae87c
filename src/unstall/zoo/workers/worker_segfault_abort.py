"""An iterable dataset, workers started by spawn: the C library gives up with abort().

cause: worker-segfault
verdict: crashed
watched: run
"""

import ctypes

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


def decode(number):
    if number == 20:
        ctypes.CDLL(None).abort()  # stalls here
    return torch.full((3,), float(number))


class Film(IterableDataset):
    def __iter__(self):
        if get_worker_info().id == 1:
            for number in range(100):
                yield decode(number)
        else:
            for _ in range(4):
                yield torch.zeros(3)


def main():
    for batch in DataLoader(Film(), batch_size=2, num_workers=2, multiprocessing_context="spawn"):
        assert batch.shape[1] == 3


if __name__ == "__main__":
    main()
