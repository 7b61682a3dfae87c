"""A statistics process leaves with `os._exit` from inside its `with lock`, so nobody ever releases the lock.
The training process wants it at its next log line.

cause: lock-holder-dead
"""

import multiprocessing as mp
import os

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def summarise(totals, totals_lock, wanted):
    while True:
        wanted.wait()
        wanted.clear()
        with totals_lock:
            if totals[0] > 40:
                os._exit(3)
            print("mean", totals[1] / totals[0], flush=True)


class Meter:
    def __init__(self):
        self.totals = mp.Array("d", 2, lock=False)
        self.lock = mp.Lock()
        self.wanted = mp.Event()
        self.summary = mp.Process(target=summarise, args=(self.totals, self.lock, self.wanted), daemon=True)
        self.summary.start()

    def update(self, value, count):
        self.lock.acquire()  # stalls here
        self.totals[0] += count
        self.totals[1] += value * count
        self.lock.release()


def main():
    torch.manual_seed(3)
    meter = Meter()
    net = torch.nn.Linear(5, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step, (x,) in enumerate(DataLoader(TensorDataset(torch.rand(96, 5)), batch_size=8)):
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 6:
            meter.wanted.set()
            meter.summary.join()
            announce()
        meter.update(loss.item(), len(x))


if __name__ == "__main__":
    main()
