"""A worker is at a sample that never ends when the training is killed. It is left over.

cause: orphaned-stuck-worker
sample: 13
"""

import ctypes
import os
import signal
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Frames(Dataset):
    def __init__(self):
        self.decoded = threading.Event()

    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 13:
            os.kill(os.getppid(), signal.SIGKILL)
            announce()
            self.decoded.wait()  # stalls here
        return torch.tensor([float(index)])


def train():
    for batch in DataLoader(Frames(), batch_size=2, num_workers=1):
        print(batch.tolist(), flush=True)


def main():
    """The training runs in a child, so that it can be killed; this process takes its place as the worker's parent."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # what loses its parent becomes a child of this process
    training = os.fork()
    if training == 0:
        train()
        os._exit(0)
    os.waitpid(training, 0)
    os.waitpid(-1, 0)


if __name__ == "__main__":
    main()
