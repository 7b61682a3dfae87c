"""The lock comes from a `Manager`: it lives in a third process. main takes it and goes on to ask for batches.

cause: lock-held-by-main-process
sample: 20
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Words(Dataset):
    def __init__(self, lock, vocabulary):
        self.lock = lock
        self.vocabulary = vocabulary

    def __len__(self):
        return 60

    def number_of(self, word):
        with self.lock:  # stalls here
            return self.vocabulary.setdefault(word, len(self.vocabulary))

    def __getitem__(self, index):
        if index < 20:
            return index
        if index == 20:
            announce()
        return self.number_of(f"word {index % 7}")


def train(loader):
    table = torch.nn.Embedding(64, 4)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    for words in loader:
        loss = table(words).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    with multiprocessing.Manager() as manager:
        lock, vocabulary = manager.Lock(), manager.dict()
        words = Words(lock, vocabulary)
        lock.acquire()
        vocabulary["<unknown>"] = 0
        train(DataLoader(words, batch_size=4, num_workers=1))
        lock.release()


if __name__ == "__main__":
    main()
