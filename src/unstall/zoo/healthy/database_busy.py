"""A second process writes to the database in long transactions of three seconds; the workers wait for each.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import os
import sqlite3
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def import_rows(path, started):
    database = sqlite3.connect(path, isolation_level=None, timeout=60)
    for number in range(8):
        database.execute("BEGIN EXCLUSIVE")
        if number == 0:
            started.set()
        time.sleep(3)
        database.execute("COMMIT")
        time.sleep(0.5)


class Rows(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 300

    def __getitem__(self, index):
        database = sqlite3.connect(self.path, timeout=60)
        value = database.execute("SELECT value FROM rows WHERE id = ?", (index,)).fetchone()
        database.close()
        time.sleep(0.02)
        return torch.tensor(value)


def main():
    path, started = os.path.join(tempfile.mkdtemp(), "rows.db"), multiprocessing.Event()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, value REAL)")
        database.executemany("INSERT INTO rows VALUES (?, ?)", [(n, n / 2) for n in range(300)])
    database.close()
    loader = DataLoader(Rows(path), batch_size=5, num_workers=1)
    for number, batch in enumerate(loader):
        if number == 0:
            multiprocessing.Process(target=import_rows, args=(path, started), daemon=True).start()
            started.wait()
            announce()
        print(batch.sum().item(), flush=True)


if __name__ == "__main__":
    main()
