"""Samples that raise, samples that are None, samples of different length, a worker that is gone: the program deals with each of
them, and ends in order.

cause: none
verdict: finished
watched: run
"""

import os

import torch
from torch.utils.data import DataLoader, Dataset


class Rough(Dataset):
    def __init__(self, sort):
        self.sort = sort

    def __len__(self):
        return 24

    def __getitem__(self, index):
        if index == 10 and self.sort == "raises":
            raise ValueError("damaged")
        if index == 10 and self.sort == "leaves":
            os._exit(3)
        if index % 5 == 0 and self.sort == "none":
            return None
        return torch.ones(index % 3 + 1)


def padded(samples):
    good = [one for one in samples if one is not None]
    return torch.nn.utils.rnn.pad_sequence(good, batch_first=True) if good else None


def batches(sort):
    try:
        return sum(1 for _ in DataLoader(Rough(sort), batch_size=4, num_workers=2, collate_fn=padded))
    except (ValueError, RuntimeError, ConnectionError, EOFError) as error:
        print("went on after", type(error).__name__)
        return 0


def main():
    for sort in ("raises", "none", "ragged", "leaves", "none"):
        print(sort, batches(sort))


if __name__ == "__main__":
    main()
