"""A thread of the main process puts an item into a manager's queue every seven seconds.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import threading
import time

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Arrivals(IterableDataset):
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        announce()
        for item in iter(self.items.get, None):
            yield torch.tensor([item])


def deliver(items):
    for number in range(8):
        time.sleep(7)
        items.put(number)
    items.put(None)


def main():
    with multiprocessing.Manager() as manager:
        items = manager.Queue()
        threading.Thread(target=deliver, args=(items,), daemon=True).start()
        for batch in DataLoader(Arrivals(items), batch_size=1, num_workers=1):
            print(batch.item(), flush=True)


if __name__ == "__main__":
    main()
