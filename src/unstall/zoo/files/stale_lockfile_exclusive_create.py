"""The lock is a file made with `O_CREAT | O_EXCL` that holds its owner's process id. The owner was killed,
the file is still there, and every try to create it fails.

cause: stale-lockfile
sample: 16
"""

import os
import subprocess
import sys
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

UNFINISHED = """
import os, sys
descriptor = os.open(sys.argv[1], os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.write(descriptor, str(os.getpid()).encode())
os.kill(os.getpid(), 9)
"""


class PidFile:
    def __init__(self, path):
        self.path = path

    def acquire(self):
        while True:  # stalls here
            try:
                descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                time.sleep(0.5)
                continue
            os.write(descriptor, str(os.getpid()).encode())
            os.close(descriptor)
            return

    def release(self):
        os.unlink(self.path)


class Thumbnails(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 28

    def __getitem__(self, number):
        lock = PidFile(f"{self.folder}/row-{number // 4}.pid")
        if number == 16:
            announce()
        lock.acquire()
        try:
            return torch.rand(3, 2, 2) * number
        finally:
            lock.release()


def main():
    folder = tempfile.mkdtemp()
    subprocess.run([sys.executable, "-c", UNFINISHED, f"{folder}/row-4.pid"])
    dataset = Thumbnails(folder)
    convolution = torch.nn.Conv2d(3, 1, 2)
    for images in DataLoader(dataset, batch_size=4, num_workers=1, multiprocessing_context="forkserver"):
        print(convolution(images).flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
