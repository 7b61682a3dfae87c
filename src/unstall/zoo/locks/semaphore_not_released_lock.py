"""A lock is taken with `acquire()`, and the branch for a missing label returns without `release()`.
Everything that comes later, in every worker, waits for it.

cause: semaphore-not-released
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Labels:
    def __init__(self, labels, lock):
        self.labels = labels
        self.lock = lock

    def lookup(self, index):
        self.lock.acquire()  # stalls here
        label = self.labels.get(index)
        if label is None:
            announce()
            return -1
        self.lock.release()
        return label


class Labelled(Dataset):
    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return 90

    def __getitem__(self, index):
        return {"x": torch.rand(2), "y": self.labels.lookup(index)}


def main():
    context = multiprocessing.get_context("forkserver")
    table = {index: index % 4 for index in range(90) if index != 31}
    loader = DataLoader(
        Labelled(Labels(table, context.Lock())),
        batch_size=6,
        num_workers=2,
        multiprocessing_context=context,
        persistent_workers=True,
    )
    for epoch in range(2):
        for batch in loader:
            print(epoch, batch["x"].mean().item(), batch["y"].tolist(), flush=True)


if __name__ == "__main__":
    main()
