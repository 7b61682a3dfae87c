"""A lock class of the project takes a time limit, and is used without one. Another process has the lock.

cause: file-lock-held
sample: 6
"""

import fcntl
import os
import subprocess
import sys
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

KEEPER = """
import fcntl, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
while True:
    time.sleep(1)
"""


class PatientLock:
    def __init__(self, path, timeout=None, pause=0.1):
        self.path, self.timeout, self.pause = path, timeout, pause

    def _attempt(self):
        self.file = open(self.path, "a")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.file.close()
            return False
        return True

    def __enter__(self):
        begun = time.monotonic()
        while not self._attempt():  # stalls here
            if self.timeout is not None and time.monotonic() - begun > self.timeout:
                raise TimeoutError(self.path)
            time.sleep(self.pause)

    def __exit__(self, *error):
        self.file.close()


class Cached(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 12

    def __getitem__(self, entry):
        if entry == 6:
            announce()
        with PatientLock(os.path.join(self.folder, f"{entry}.lock")):
            return torch.tensor([float(entry)])


def main():
    folder = tempfile.mkdtemp()
    command = [sys.executable, "-c", KEEPER, os.path.join(folder, "6.lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as keeper:
        keeper.stdout.readline()
        for entries in DataLoader(Cached(folder), batch_size=3, num_workers=2):
            print(entries.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
