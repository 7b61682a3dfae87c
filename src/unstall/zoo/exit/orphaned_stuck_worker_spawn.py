"""A spawned worker waits for a server that says nothing; somebody kills the training, and the worker stays.

cause: orphaned-stuck-worker
watched: left over
"""

import os
import signal
import socket

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Stream(IterableDataset):
    def __iter__(self):
        listener = socket.create_server(("127.0.0.1", 0))
        for number in range(40):
            if number == 9:
                os.kill(os.getppid(), signal.SIGKILL)
                announce()
                listener.accept()  # stalls here
            yield torch.tensor([float(number)])


def main():
    for batch in DataLoader(Stream(), batch_size=2, num_workers=1, multiprocessing_context="spawn"):
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
