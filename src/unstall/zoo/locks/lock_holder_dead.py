"""A process that rewrites the index between two epochs is killed while it holds the lock. The lock stays
taken for ever, and the workers of the next epoch wait for it.

cause: lock-holder-dead
sample: 0
"""

import multiprocessing
import os
import signal

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Indexed(Dataset):
    def __init__(self):
        self.index_lock = multiprocessing.Lock()
        self.offsets = multiprocessing.Array("i", range(32), lock=False)
        self.epoch = 0

    def __len__(self):
        return len(self.offsets)

    def __getitem__(self, i):
        if self.epoch == 1:
            announce()
        with self.index_lock:  # stalls here
            offset = self.offsets[i]
        return torch.tensor([float(offset)])


def rewrite_index(dataset):
    with dataset.index_lock:
        for i in range(len(dataset)):
            dataset.offsets[i] += 1
            if i == 16:
                os.kill(os.getpid(), signal.SIGKILL)


def main():
    dataset = Indexed()
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for epoch in range(3):
        dataset.epoch = epoch
        for batch in DataLoader(dataset, batch_size=4, num_workers=1):
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        print("epoch", epoch, "done", flush=True)
        rewriter = multiprocessing.Process(target=rewrite_index, args=(dataset,))
        rewriter.start()
        rewriter.join()


if __name__ == "__main__":
    main()
