"""The training waits until a thread has loaded the vocabulary. The thread failed before it could say so.

cause: event-never-set
"""

import threading
import time

import torch
from torch import nn

from unstall.zoo import announce


class Vocabulary:
    def __init__(self, words):
        self.words = words
        self.numbers = {}
        self.loaded = threading.Event()
        threading.Thread(target=self.load, name="vocabulary", daemon=True).start()
        threading.Thread(target=self.report, name="heartbeat", daemon=True).start()

    def load(self):
        for word in self.words:
            self.numbers[word.lower()] = len(self.numbers)
        self.loaded.set()

    def report(self):
        while True:
            time.sleep(1)
            print(len(self.numbers), "words", flush=True)

    def encode(self, text):
        announce()
        self.loaded.wait()  # stalls here
        return torch.tensor([self.numbers[word] for word in text.split()])


def main():
    vocabulary = Vocabulary(["The", "cat", None, "sat"])
    embedding = nn.Embedding(4, 8)
    tokens = vocabulary.encode("the cat sat")
    loss = embedding(tokens).square().mean()
    loss.backward()
    print(loss.item())


if __name__ == "__main__":
    main()
