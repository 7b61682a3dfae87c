"""Workers write the samples that they have seen into a database in WAL mode. A notebook (a second process)
has begun a write transaction and was left open.

cause: sqlite-locked
"""

import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce

NOTEBOOK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
print("open", flush=True)
sys.stdin.read()
"""


class SeenLog:
    def __init__(self, path):
        self.path = path
        self.database = None

    def add(self, key):
        if self.database is None:
            self.database = sqlite3.connect(self.path, timeout=10**6, isolation_level=None)
        self.database.execute("INSERT INTO seen VALUES (?)", (key,))  # stalls here


class Stream(IterableDataset):
    def __init__(self, log):
        self.log = log

    def __iter__(self):
        worker = get_worker_info().id
        for number in range(100):
            if number == 20:
                if worker == 0:
                    announce()
                self.log.add(f"{worker}:{number}")
            yield torch.tensor([worker, number])


def main():
    path = pathlib.Path(tempfile.mkdtemp()) / "seen.sqlite"
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("CREATE TABLE seen (key TEXT)")
    database.close()
    notebook = subprocess.Popen(
        [sys.executable, "-c", NOTEBOOK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    notebook.stdout.readline()
    loader = DataLoader(Stream(SeenLog(path)), batch_size=5, num_workers=2, multiprocessing_context="spawn")
    for batch in loader:
        print(batch[:, 1].tolist(), flush=True)


if __name__ == "__main__":
    main()
