"""A broken document raises between `acquire` and `release`. The error is swallowed one level up, and its
permit of the `BoundedSemaphore` with it.

cause: semaphore-not-released
sample: 26
"""

import json
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Parser:
    def __init__(self, slots):
        self.slots = threading.BoundedSemaphore(slots)

    def parse(self, text):
        self.slots.acquire()  # stalls here
        document = json.loads(text)
        self.slots.release()
        return document


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, value):
        for step in self.steps:
            value = step(value)
        return value


class Documents(Dataset):
    def __init__(self, texts, transform):
        self.texts = texts
        self.transform = transform

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, row):
        if row == 26:
            announce()
        try:
            return self.transform(self.texts[row])
        except ValueError:
            return torch.zeros(3)


def main():
    texts = [json.dumps({"score": [row, row / 2, 1]}) for row in range(64)]
    for row in (7, 15, 25):
        texts[row] = texts[row][:-3]
    pipeline = Compose(Parser(slots=3).parse, lambda document: document["score"], torch.tensor)
    for scores in DataLoader(Documents(texts, pipeline), batch_size=4, num_workers=0):
        print(scores.mean(dim=0).tolist(), flush=True)


if __name__ == "__main__":
    main()
