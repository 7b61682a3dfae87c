"""A preparation script locked the data, started a viewer in the background and ended. The viewer inherited
the open file, and the `flock` with it, so the lock outlives the process that took it.

cause: file-lock-held
sample: 31
"""

import fcntl
import os
import subprocess
import sys
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

PREPARATION = """
import fcntl, subprocess, sys
data = open(sys.argv[1], "ab")
fcntl.flock(data, fcntl.LOCK_EX)
data.write(bytes(range(64)))
data.flush()
subprocess.Popen(["sleep", "100000"], pass_fds=[data.fileno()])
"""


class PackedBytes(Dataset):
    def __init__(self, path, block):
        self.path = path
        self.block = block

    def __len__(self):
        return 64

    def __getitem__(self, position):
        with open(self.path, "rb", buffering=0) as packed:
            if position % self.block == self.block - 1:
                announce()
                fcntl.flock(packed.fileno(), fcntl.LOCK_SH)  # stalls here
            packed.seek(position)
            return packed.read(1)[0]


def main():
    path = os.path.join(tempfile.mkdtemp(), "packed.bin")
    subprocess.run([sys.executable, "-c", PREPARATION, path], check=True)
    loader = DataLoader(PackedBytes(path, block=32), batch_size=4, num_workers=1, persistent_workers=True)
    counts = torch.zeros(64)
    for epoch in range(2):
        for batch in loader:
            counts[batch] += 1
            print("epoch", epoch, "distinct values", int(counts.count_nonzero()), flush=True)


if __name__ == "__main__":
    main()
