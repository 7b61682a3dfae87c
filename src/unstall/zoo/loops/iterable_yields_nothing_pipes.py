"""Small pipes are put together: records for ever, only the German ones, shuffled. There are no German ones.

cause: iterable-yields-nothing
"""

import random

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class ForEver:
    def __init__(self, records):
        self.records = records

    def __iter__(self):
        while True:
            yield from self.records


class Only:
    def __init__(self, source, accepts):
        self.source, self.accepts = source, accepts

    def __iter__(self):
        for record in self.source:  # stalls here
            if self.accepts(record):
                yield record


class Shuffled:
    def __init__(self, source, size):
        self.source, self.size = source, size

    def __iter__(self):
        waiting = []
        for record in self.source:
            waiting.append(record)
            if len(waiting) > self.size:
                yield waiting.pop(random.randrange(len(waiting)))


class Reviews(IterableDataset):
    def __init__(self, source):
        self.source = source

    def __iter__(self):
        announce()
        for record in self.source:
            yield torch.tensor([float(record["stars"])])


def main():
    records = [{"language": "en", "stars": n % 5} for n in range(700)]
    reviews = Reviews(Shuffled(Only(ForEver(records), lambda one: one["language"] == "de"), 20))
    model = torch.nn.Linear(1, 1)
    for batch in DataLoader(reviews, batch_size=8, num_workers=1):
        model(batch).mean().backward()


if __name__ == "__main__":
    main()
