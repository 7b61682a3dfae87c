"""A helper made with @contextmanager takes the lock, and a method inside its block uses the helper again.

cause: lock-self-deadlock
sample: 17
"""

import contextlib
import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Journal:
    def __init__(self):
        self.mutex = multiprocessing.Lock()
        self.lines = []

    @contextlib.contextmanager
    def exclusive(self):
        self.mutex.acquire()  # stalls here
        try:
            yield self.lines
        finally:
            self.mutex.release()

    def note(self, text):
        with self.exclusive() as lines:
            lines.append(text)


class Readings(Dataset):
    def __init__(self, journal):
        self.journal = journal

    def __len__(self):
        return 60

    def __getitem__(self, index):
        with self.journal.exclusive() as lines:
            lines.append(str(index))
            if index == 17:
                announce()
                self.journal.note("outlier")
        return torch.tensor(float(index))


def main():
    journal = Journal()
    for values in DataLoader(Readings(journal), batch_size=5, num_workers=2):
        print("mean", values.mean().item(), flush=True)


if __name__ == "__main__":
    main()
