"""`_begin()` takes the shelf's lock and `_end()` gives it back. `trim()` does so too, and is called in between.

cause: lock-self-deadlock
sample: 16
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Shelf:
    def __init__(self, largest):
        self._mutex = multiprocessing.Lock()
        self.largest = largest
        self.books = {}

    def _begin(self):
        self._mutex.acquire()  # stalls here

    def _end(self):
        self._mutex.release()

    def put(self, number, book):
        self._begin()
        self.books[number] = book
        if len(self.books) > self.largest:
            self.trim()
        self._end()

    def trim(self):
        announce()
        self._begin()
        self.books.clear()
        self._end()


class Library(Dataset):
    def __init__(self):
        self.shelf = Shelf(largest=16)

    def __len__(self):
        return 48

    def __getitem__(self, number):
        book = torch.arange(6.0) * number
        self.shelf.put(number, book)
        return book


def main():
    model = torch.nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for books in DataLoader(Library(), batch_size=4, num_workers=1):
        loss = (model(books).squeeze(1) - books.mean(1)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
