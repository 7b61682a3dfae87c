"""Another program (a backup) holds the `flock` of the index file for hours, and a sample has to read the
index.

cause: file-lock-held
sample: 12
"""

import fcntl
import os
import subprocess
import sys
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

BACKUP = """
import fcntl, sys, time
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(100000)
"""


class Corpus(Dataset):
    def __init__(self, index_path):
        self.index_path = index_path

    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 12:
            with open(self.index_path) as file:
                announce()
                fcntl.flock(file, fcntl.LOCK_SH)  # stalls here
                return torch.tensor(float(file.read()))
        return torch.tensor(float(index))


def main():
    index_path = os.path.join(tempfile.mkdtemp(), "corpus.index")
    with open(index_path, "w") as file:
        file.write("1024")
    backup = subprocess.Popen([sys.executable, "-c", BACKUP, index_path], stdout=subprocess.PIPE)
    backup.stdout.readline()
    for batch in DataLoader(Corpus(index_path), batch_size=4, num_workers=2):
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
