"""Each epoch asks for longer texts than the last; in the fourth, none of the texts in the endless stream is
long enough.

cause: iterable-yields-nothing
"""

import itertools

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


def texts():
    return itertools.cycle("a bb ccc dddd eeeee".split())


def encode(stream):
    for text in stream:
        yield torch.tensor([ord(character) for character in text])


def long_enough(stream, minimum):
    for tokens in stream:  # stalls here
        if len(tokens) >= minimum:
            yield tokens


def crop(stream, length):
    for tokens in stream:
        yield tokens[:length].float()


class Pipeline(IterableDataset):
    def __init__(self, minimum):
        self.minimum = minimum

    def __iter__(self):
        if self.minimum > 5:
            announce()
        yield from crop(long_enough(encode(texts()), self.minimum), self.minimum)


def main():
    for epoch in range(6):
        minimum = 2 * epoch + 1 if epoch < 3 else 8
        loader = DataLoader(Pipeline(minimum), batch_size=8, num_workers=1, multiprocessing_context="forkserver")
        model = torch.nn.Linear(minimum, 1)
        iterator = iter(loader)
        for step in range(5):
            print(f"epoch {epoch} step {step}: {model(next(iterator)).mean().item():.3f}", flush=True)


if __name__ == "__main__":
    main()
