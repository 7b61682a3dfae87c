"""A time limit of the dataset's own: the worker sends itself SIGKILL where it should have raised an error.

cause: worker-killed-by-signal
sample: 22
verdict: crashed
watched: run
"""

import os
import signal

import torch
from torch.utils.data import DataLoader, Dataset


def give_up():
    os.kill(os.getpid(), signal.SIGKILL)  # stalls here


class Streams(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 22:
            give_up()
        return torch.rand(5)


def main():
    for batch in DataLoader(Streams(), batch_size=4, num_workers=2):
        assert batch.shape == (4, 5)


if __name__ == "__main__":
    main()
