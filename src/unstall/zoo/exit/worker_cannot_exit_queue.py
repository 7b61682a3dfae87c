"""A worker keeps a thread that answers lookups from a queue; a worker that is told to end waits for it.

cause: worker-cannot-exit
verdict: slow
"""

import queue
import threading

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Lookup:
    def __init__(self):
        self.asked, self.answers = queue.Queue(), queue.Queue()
        threading.Thread(target=self.serve, name="lookup").start()

    def serve(self):
        while True:
            key = self.asked.get()  # stalls here
            self.answers.put(key * 2.0)

    def __getitem__(self, key):
        self.asked.put(key)
        return self.answers.get()


class Stream(IterableDataset):
    def __iter__(self):
        lookup = Lookup()
        for key in range(24):
            yield torch.tensor([lookup[key]])


def main():
    model = torch.nn.Linear(1, 1)
    for epoch in range(50):
        for number, batch in enumerate(DataLoader(Stream(), batch_size=4, num_workers=1)):
            model(batch).sum().backward()
            if number == 5:
                announce()
        print("epoch", epoch, flush=True)


if __name__ == "__main__":
    main()
