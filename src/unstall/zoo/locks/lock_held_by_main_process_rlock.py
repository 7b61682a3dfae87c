"""From the second epoch on, the main process holds an `RLock` while it starts the loader and waits for the
first batch. A re-entrant lock lets its owner in again, but a worker is another process.

cause: lock-held-by-main-process
"""

import multiprocessing as mp

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class TokenStream(IterableDataset):
    def __init__(self, position, lock):
        self.position = position
        self.lock = lock

    def take(self):
        with self.lock:  # stalls here
            self.position.value += 1
            return self.position.value

    def __iter__(self):
        if self.position.value == 60:
            announce()
        for _ in range(60):
            yield torch.tensor(self.take() % 50)


def start_epoch(loader, position, lock):
    with lock:
        print("starting at token", position.value, flush=True)
        batches = iter(loader)
        return next(batches), batches


def main():
    context = mp.get_context("forkserver")
    lock, position = context.RLock(), context.Value("i", 0, lock=False)
    stream = TokenStream(position, lock)
    loader = DataLoader(stream, batch_size=10, num_workers=1, multiprocessing_context=context)
    table = torch.nn.Embedding(50, 2)
    for tokens in loader:
        print("warm-up", table(tokens).mean().item(), flush=True)
    for epoch in range(4):
        first, rest = start_epoch(loader, position, lock)
        for tokens in (first, *rest):
            print("epoch", epoch, table(tokens).mean().item(), flush=True)


if __name__ == "__main__":
    main()
