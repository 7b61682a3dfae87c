"""A sample is repacked by a program that locks the archive. The worker that starts it has the lock already.

cause: file-lock-held
sample: 9
"""

import fcntl
import subprocess
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Archive(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 18

    def repack(self):
        subprocess.run(["flock", self.path, "true"], check=True)  # stalls here

    def __getitem__(self, member):
        with open(self.path) as archive:
            fcntl.flock(archive, fcntl.LOCK_SH)
            data = torch.tensor([member])
            if member == 9:
                announce()
                self.repack()
        return data


def main():
    with tempfile.NamedTemporaryFile() as file:
        for members in DataLoader(Archive(file.name), batch_size=3, num_workers=2, persistent_workers=True):
            print(members.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
