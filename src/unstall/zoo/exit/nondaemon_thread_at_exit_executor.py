"""A thread pool runs a job that waits for a message of the training. The training has ended without one.

cause: nondaemon-thread-at-exit
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

from unstall.zoo import announce


class Snapshots:
    def __init__(self):
        self.pool = ThreadPoolExecutor(1)
        self.wanted = threading.Event()
        self.taken = 0

    def take_when_wanted(self, model):
        while True:
            self.wanted.wait()  # stalls here
            self.wanted.clear()
            torch.save(model.state_dict(), "snapshot.pt")
            self.taken += 1


def main():
    model = nn.Linear(4, 1)
    snapshots = Snapshots()
    snapshots.pool.submit(snapshots.take_when_wanted, model)
    for step in range(40):
        loss = model(torch.randn(8, 4)).square().mean()
        loss.backward()
        if step % 20 == 0:
            snapshots.wanted.set()
    print("training done", flush=True)
    announce()


if __name__ == "__main__":
    main()
