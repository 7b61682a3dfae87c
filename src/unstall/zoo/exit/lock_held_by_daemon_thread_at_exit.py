"""A daemon thread is inside a query, which holds the database's lock, and waits there for the training to ask for
more rows. The training has ended, and closes the database.

cause: lock-held-by-daemon-thread-at-exit
"""

import atexit
import queue
import sqlite3
import threading
import time

import torch
from torch import nn

from unstall.zoo import announce

COUNT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT seen(x) FROM n) SELECT count(*) FROM n"


class Statistics:
    """Counts in the background, a hundred rows for each step; closed at the exit."""

    def __init__(self):
        self.rows = 0
        self.wanted = queue.Queue()
        self.database = sqlite3.connect(":memory:", check_same_thread=False)
        self.database.create_function("seen", 1, self.seen)
        atexit.register(self.database.close)
        threading.Thread(target=self.count, daemon=True).start()

    def seen(self, number):
        self.rows += 1
        if self.rows % 100 == 0:
            self.wanted.get()  # stalls here
        return number + 1

    def count(self):
        self.database.execute(COUNT).fetchone()


def main():
    statistics = Statistics()
    model = nn.Linear(4, 1)
    for _ in range(20):
        loss = model(torch.randn(8, 4)).square().mean()
        loss.backward()
        statistics.wanted.put(loss.item())
    print("training done after", statistics.rows, "rows", flush=True)
    time.sleep(0.2)
    announce()


if __name__ == "__main__":
    main()
