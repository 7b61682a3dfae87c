"""Samples come from a thread through a queue, one every three seconds.

cause: none
verdict: progressing, slow
"""

import queue
import threading
import time

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Live(IterableDataset):
    def __init__(self, number):
        self.number = number
        self.arrived = queue.Queue(maxsize=4)

    def receive(self):
        for number in range(self.number):
            time.sleep(3)
            self.arrived.put(torch.tensor([float(number), 1.0]))
        self.arrived.put(None)

    def __iter__(self):
        threading.Thread(target=self.receive, daemon=True).start()
        announced = False
        while (sample := self.arrived.get()) is not None:
            yield sample
            if not announced:
                announce()
                announced = True


def main():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in DataLoader(Live(14), batch_size=1):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        print("sample", int(batch[0, 0]), flush=True)


if __name__ == "__main__":
    main()
