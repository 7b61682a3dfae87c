"""A symbolic link that names its owner serves as the lock. The owner is long gone. The class tries in one
method and waits in another.

cause: stale-lockfile
sample: 9
"""

import os
import tempfile
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class LinkLock:
    def __init__(self, folder, name):
        self.link = os.path.join(folder, f".{name}")
        self.pause = threading.Event()

    def try_take(self):
        try:
            os.symlink(f"{os.uname().nodename}:{os.getpid()}", self.link)
        except FileExistsError:
            return False
        return True

    def __enter__(self):
        while not self.try_take():  # stalls here
            self.pause.wait(0.3)

    def __exit__(self, *exception):
        os.unlink(self.link)


class Spectra(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 24

    def __getitem__(self, index):
        if index != 9:
            return torch.fft.rfft(torch.arange(8.0) * index).abs()
        announce()
        with LinkLock(self.folder, f"spectrum{index}"):
            return torch.zeros(5)


def main():
    folder = tempfile.mkdtemp()
    os.symlink("node17:2147480000", os.path.join(folder, ".spectrum9"))
    for spectra in DataLoader(Spectra(folder), batch_size=3, num_workers=2):
        print(spectra.mean().item(), flush=True)


if __name__ == "__main__":
    main()
