"""The training waits for an event that a thread sets when it has built its index, after fifteen seconds.

cause: none
verdict: progressing, slow
"""

import threading
import time

import torch
from torch import nn

from unstall.zoo import announce


class Index:
    def __init__(self):
        self.entries = {}
        self.complete = threading.Event()
        threading.Thread(target=self.build, daemon=True).start()

    def add(self, shard):
        for number in range(200):
            self.entries[shard, number] = sum(range(500))
        time.sleep(0.5)

    def finish(self):
        self.complete.set()

    def build(self):
        for shard in range(30):
            self.add(shard)
        self.finish()


def main():
    index = Index()
    announce()
    index.complete.wait()
    model = nn.Linear(2, 1)
    for _ in range(20):
        model(torch.randn(4, 2)).sum().backward()
        time.sleep(0.1)


if __name__ == "__main__":
    main()
