"""Samples are small objects that get a lock when their cached picture is made; only large pictures are
cached.

An object with a lock cannot travel from the worker to the training.

cause: result-not-picklable
"""

import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Picture:
    def __init__(self, side):
        self.side = side
        self.cache = None

    def pixels(self):
        if self.side > 30:
            self.cache = (threading.Lock(), torch.ones(self.side, self.side))  # stalls here
            return self.cache[1]
        return torch.ones(self.side, self.side)


class Gallery(Dataset):
    def __init__(self, sides):
        self.pictures = [Picture(side) for side in sides]

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, n):
        picture = self.pictures[n]
        mean = picture.pixels().mean().item()
        if picture.cache:
            announce()
        return picture, mean


class Batch:
    def __init__(self, items):
        self.pictures, means = zip(*items, strict=True)
        self.means = torch.tensor(means)


def main():
    gallery = Gallery([8, 16, 24] * 10 + [32] + [8, 16] * 5)
    loader = DataLoader(gallery, batch_size=3, num_workers=2, collate_fn=Batch, multiprocessing_context="forkserver")
    brightness = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([brightness], lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        (batch.means - brightness).square().mean().backward()
        optimizer.step()
        print([picture.side for picture in batch.pictures], brightness.item(), flush=True)


if __name__ == "__main__":
    main()
