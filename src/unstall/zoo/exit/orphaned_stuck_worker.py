"""A worker is at a sample that never ends when the training is killed. It is left over.

cause: orphaned-stuck-worker
sample: 13
watched: left over
"""

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
            os.kill(os.getppid(), signal.SIGKILL)  # as the kernel does when memory is short
            announce()
            self.decoded.wait()  # stalls here
        return torch.tensor([float(index)])


def main():
    for batch in DataLoader(Frames(), batch_size=2, num_workers=1):
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
