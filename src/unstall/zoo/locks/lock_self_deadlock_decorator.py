"""Two functions are wrapped by the same `synchronized` decorator, and one of them calls the other.

cause: lock-self-deadlock
sample: 9
"""

import functools
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

tokenizer_guard = threading.Lock()


def synchronized(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with tokenizer_guard:  # stalls here
            return function(*args, **kwargs)

    return wrapper


@synchronized
def encode(text):
    if not text.isascii():
        announce()
        return normalize(text)
    return [ord(character) for character in text[:8].ljust(8)]


@synchronized
def normalize(text):
    return encode(text.encode("ascii", "replace").decode())


class Sentences(Dataset):
    def __init__(self, sentences):
        self.sentences = sentences

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, n):
        return torch.tensor(encode(self.sentences[n]))


def main():
    sentences = [f"sentence number {n}" for n in range(24)]
    sentences[9] = "déjà vu"
    loader = DataLoader(Sentences(sentences), batch_size=3, num_workers=1, multiprocessing_context="spawn")
    embedding = torch.nn.Embedding(128, 4)
    for tokens in loader:
        print("mean embedding", embedding(tokens).mean().item(), flush=True)


if __name__ == "__main__":
    main()
