"""Another process has opened an exclusive transaction on the database and does not commit. The query of a
sample waits, because the connection has a very long busy timeout.

cause: sqlite-locked
sample: 10
"""

import multiprocessing
import os
import sqlite3
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Rows(Dataset):
    def __init__(self, path, wanted, locked):
        self.path = path
        self.wanted = wanted
        self.locked = locked

    def __len__(self):
        return 40

    def __getitem__(self, index):
        connection = sqlite3.connect(self.path, timeout=36000)
        if index == 10:
            self.wanted.set()
            self.locked.wait()
            announce()
        rows = connection.execute("SELECT value FROM rows WHERE id = ?", (index,))  # stalls here
        value = torch.tensor(rows.fetchone())
        connection.close()
        return value


def vacuum_later(path, wanted, locked):
    connection = sqlite3.connect(path, isolation_level=None)
    wanted.wait()
    connection.execute("BEGIN EXCLUSIVE")
    locked.set()
    time.sleep(100000)


def main():
    path = os.path.join(tempfile.mkdtemp(), "rows.db")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, value REAL)")
        connection.executemany("INSERT INTO rows VALUES (?, ?)", [(n, n * 0.5) for n in range(40)])
    connection.close()
    wanted, locked = multiprocessing.Event(), multiprocessing.Event()
    multiprocessing.Process(target=vacuum_later, args=(path, wanted, locked), daemon=True).start()
    for batch in DataLoader(Rows(path, wanted, locked), batch_size=2, num_workers=1):
        print(batch.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
