"""One connection of a worker has begun to write and does not commit; a second connection of the same worker
wants to write, too, and waits for the first.

cause: sqlite-locked
sample: 14
"""

import os
import sqlite3
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Usage:
    def __init__(self, path):
        self.database = sqlite3.connect(path, timeout=100000)

    def count(self, index):
        self.database.execute("INSERT INTO used VALUES (?)", (index,))  # stalls here


class Counted(Dataset):
    def __init__(self, path):
        self.path = path
        self.usage = None

    def __len__(self):
        return 30

    def __getitem__(self, index):
        if index >= 12 and index % 2 == 0:
            if self.usage is not None:
                announce()
            self.usage, before = Usage(self.path), self.usage
            self.usage.count(index)
            del before
        return torch.tensor([float(index)])


def main():
    path = os.path.join(tempfile.mkdtemp(), "usage.db")
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE used (number INTEGER)")
    database.commit()
    database.close()
    for batch in DataLoader(Counted(path), batch_size=6, num_workers=1):
        print(batch.sum().item(), flush=True)


if __name__ == "__main__":
    main()
