"""Each worker starts a thread that prefetches files and never ends. At each epoch's end the training waits for it.

cause: worker-cannot-exit
verdict: slow
"""

import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Prefetched(Dataset):
    def __init__(self):
        self.thread = None
        self.ready = {}

    def prefetch(self):
        number = 0
        while True:
            self.ready[number % 100] = torch.full((4,), float(number))
            number += 1
            time.sleep(0.2)  # stalls here

    def __len__(self):
        return 32

    def __getitem__(self, index):
        if self.thread is None:
            self.thread = threading.Thread(target=self.prefetch)
            self.thread.start()
        return torch.full((4,), float(index))


def main():
    model = nn.Linear(4, 1)
    loader = DataLoader(Prefetched(), batch_size=8, num_workers=2)
    for epoch in range(50):
        for step, batch in enumerate(loader):
            loss = model(batch).square().mean()
            loss.backward()
            if step == len(loader) - 1:
                announce()
        print("epoch", epoch, flush=True)


if __name__ == "__main__":
    main()
