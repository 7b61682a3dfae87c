"""Workers count what they have seen in a dict of a Manager. A script that tidies up kills the Manager's process.

cause: manager-process-dead
verdict: crashed
watched: run
"""

import multiprocessing
import os
import signal

import torch
from torch.utils.data import DataLoader, Dataset


class Counted(Dataset):
    def __init__(self, seen):
        self.seen = seen

    def __len__(self):
        return 400

    def __getitem__(self, index):
        self.seen[index] = True  # stalls here
        return torch.ones(3)


def main():
    manager = multiprocessing.Manager()
    loader = DataLoader(Counted(manager.dict()), batch_size=4, num_workers=2)
    for number, _ in enumerate(loader):
        if number == 10:
            os.kill(manager._process.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
