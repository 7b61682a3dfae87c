"""Locks of open file descriptions (`F_OFD_SETLKW`) belong to one opening of a file, too. A reader locks the
vocabulary for its lifetime; a second reader in the same worker waits for the first.

cause: file-lock-self-deadlock
sample: 12
"""

import fcntl
import os
import struct
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Vocabulary:
    def __init__(self, path):
        self.file = open(path, "r+")
        whole_file = struct.pack("hhqqhxxxxxx", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(self.file, fcntl.F_OFD_SETLKW, whole_file)  # stalls here
        self.words = self.file.read().split()

    def number(self, word):
        return self.words.index(word)


class Sentences(Dataset):
    def __init__(self, path, sentences):
        self.path = path
        self.sentences = sentences
        self.vocabulary = None

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        if self.vocabulary is None:
            self.vocabulary = Vocabulary(self.path)
        vocabulary = self.vocabulary
        if "<rare>" in self.sentences[index]:
            announce()
            vocabulary = Vocabulary(self.path)
        return torch.tensor([vocabulary.number(word) for word in self.sentences[index].split()])


def main():
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as file:
        file.write("the cat sat on a mat <rare>")
    sentences = ["the cat sat", "on a mat"] * 12
    sentences[12] = "the <rare> sat"
    embedding = torch.nn.Embedding(7, 3)
    for tokens in DataLoader(Sentences(path, sentences), batch_size=2, num_workers=1):
        print(embedding(tokens).sum().item(), flush=True)


if __name__ == "__main__":
    main()
