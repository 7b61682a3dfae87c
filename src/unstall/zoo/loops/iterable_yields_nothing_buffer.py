"""A shuffle buffer waits until it holds 500 different documents, and the stream repeats the same 300.

cause: iterable-yields-nothing
"""

import random

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Stream:
    """Documents in random order, for ever."""

    def __init__(self, names):
        self.names = names

    def next_document(self):
        return random.choice(self.names)


class ShuffleBuffer(IterableDataset):
    def __init__(self, stream, capacity):
        self.stream = stream
        self.capacity = capacity

    def fill(self, buffer):
        announce()
        while len(buffer) < self.capacity:  # stalls here
            buffer.add(self.stream.next_document())

    def __iter__(self):
        buffer = set()
        self.fill(buffer)
        while buffer:
            yield torch.tensor([float(len(buffer.pop()))])
            buffer.add(self.stream.next_document())


def main():
    stream = Stream([f"document-{n}" for n in range(300)])
    loader = DataLoader(ShuffleBuffer(stream, 500), batch_size=16)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = iter(loader)
    for _ in range(200):
        lengths = next(batches)
        loss = torch.nn.functional.mse_loss(model(lengths), lengths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    main()
