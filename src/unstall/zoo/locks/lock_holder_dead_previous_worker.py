"""A loader's worker dies inside the lock of the dataset. The script catches the error and starts the epoch
again with the same dataset: its new worker waits for the lock that the dead one took with it.

cause: lock-holder-dead
sample: 0
"""

import contextlib
import multiprocessing
import os

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Decoder:
    def __init__(self):
        self._busy = multiprocessing.RLock()

    @contextlib.contextmanager
    def session(self):
        self._busy.acquire()  # stalls here
        try:
            yield self
        finally:
            self._busy.release()

    def decode(self, clip):
        if clip == 13:
            os._exit(139)
        return torch.linspace(0, clip, 6)


class Clips(Dataset):
    def __init__(self, decoder):
        self.decoder = decoder
        self.attempt = 0

    def __len__(self):
        return 40

    def __getitem__(self, clip):
        if self.attempt > 0:
            announce()
        with self.decoder.session() as session:
            return session.decode(clip), clip % 3


def train(dataset, head):
    for clips, classes in DataLoader(dataset, batch_size=2, num_workers=1):
        print("loss", F.cross_entropy(head(clips), classes).item(), flush=True)


def main():
    dataset, head = Clips(Decoder()), torch.nn.Linear(6, 3)
    for attempt in range(3):
        dataset.attempt = attempt
        try:
            train(dataset, head)
        except (RuntimeError, OSError) as error:
            print("the loader failed, again:", type(error).__name__, flush=True)


if __name__ == "__main__":
    main()
