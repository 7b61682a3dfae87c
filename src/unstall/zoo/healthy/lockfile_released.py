"""Two workers share a folder that serves as a lock. Each keeps it for three seconds while it builds a part.

cause: none
verdict: progressing, slow
"""

import os
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Parts(Dataset):
    def __init__(self, lock):
        self.lock = lock

    def __len__(self):
        return 16

    def __getitem__(self, part):
        while True:
            try:
                os.mkdir(self.lock)
                break
            except FileExistsError:
                time.sleep(0.1)
        if part == 0:
            announce()
        time.sleep(3)
        os.rmdir(self.lock)
        return torch.tensor([part])


def main():
    lock = os.path.join(tempfile.mkdtemp(), "building")
    for parts in DataLoader(Parts(lock), batch_size=2, num_workers=2):
        print(parts.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
