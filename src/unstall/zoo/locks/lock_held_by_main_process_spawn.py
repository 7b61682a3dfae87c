"""The vocabulary is frozen for the whole epoch by a context manager that acquires its lock in the main
process. A spawned worker meets a new word and wants to add it.

cause: lock-held-by-main-process
sample: 22
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Vocabulary:
    def __init__(self, words, context):
        self.ids = {word: number for number, word in enumerate(words)}
        self.editing = context.Lock()

    def __enter__(self):
        self.editing.acquire()
        return self

    def __exit__(self, *exception):
        self.editing.release()

    def id_of(self, word):
        if word not in self.ids:
            announce()
            with self.editing:  # stalls here
                self.ids[word] = len(self.ids)
        return self.ids[word]


class Lines(Dataset):
    def __init__(self, lines, vocabulary):
        self.lines = lines
        self.vocabulary = vocabulary

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, row):
        return torch.tensor([self.vocabulary.id_of(word) for word in self.lines[row].split()])


def main():
    context = multiprocessing.get_context("spawn")
    lines = ["the cat sat", "on the mat", "cat on mat", "the mat sat"] * 8
    lines[22] = "the dog sat"
    vocabulary = Vocabulary("the cat sat on mat".split(), context)
    loader = DataLoader(
        Lines(lines, vocabulary),
        batch_sampler=[range(start, start + 4) for start in range(0, 32, 4)],
        num_workers=1,
        multiprocessing_context=context,
    )
    embedding = torch.nn.EmbeddingBag(16, 3)
    with vocabulary as frozen:
        print(len(frozen.ids), "words")
        for ids in loader:
            print(embedding(ids).norm().item(), flush=True)


if __name__ == "__main__":
    main()
