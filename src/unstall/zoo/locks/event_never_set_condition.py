"""A bounded buffer between two threads. The filler has ended without notifying who waits for more.

cause: event-never-set
"""

import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Buffered(IterableDataset):
    def __init__(self, count):
        self.count = count
        self.items = []
        self.changed = threading.Condition()

    def fill(self):
        for number in range(self.count):
            with self.changed:
                self.items.append(torch.full((3,), float(number)))
                if number < self.count - 1:
                    self.changed.notify()

    def __iter__(self):
        threading.Thread(target=self.fill).start()
        delivered = 0
        while True:
            with self.changed:
                while not self.items:
                    if delivered == self.count:
                        announce()
                    self.changed.wait()  # stalls here
                yield self.items.pop(0)
                delivered += 1


def main():
    model = nn.Linear(3, 1)
    for batch in DataLoader(Buffered(40), batch_size=4):
        loss = model(batch).square().mean()
        loss.backward()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
