"""Runs of blanks before a line end are removed with a pattern whose two parts can share the blanks in any
way.

One page consists of blanks for a very long stretch, with a word after them.

cause: regex-catastrophic-backtracking
sample: 12
"""

import re

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Lower:
    def __call__(self, text):
        return text.lower()


class StripTrailingBlanks:
    def __call__(self, text):
        return re.sub(r"(?:\s*\s*\s*)+\n", "\n", text)  # stalls here


class CharacterHistogram:
    def __call__(self, text):
        counts = torch.zeros(128)
        for character in text:
            counts[ord(character)] += 1
        return counts


class Pages(Dataset):
    def __init__(self, pages, *pipeline):
        self.pages, self.pipeline = pages, pipeline

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, page):
        value = self.pages[page]
        if len(value) > 200:
            announce()
        for stage in self.pipeline:
            value = stage(value)
        return value


class Fitter:
    def __init__(self, loader):
        self.loader = loader
        self.model = torch.nn.Linear(128, 2)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def run(self):
        for histogram in self.loader:
            self.update(histogram)

    def update(self, histogram):
        loss = self.model(histogram).logsumexp(1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        print("loss", loss.item(), flush=True)


def main():
    texts = ["Chapter One  \nIt was late. \n"] * 12 + ["Table" + " " * 300 + "end"] + ["The End \n"] * 11
    pages = Pages(texts, Lower(), StripTrailingBlanks(), CharacterHistogram())
    Fitter(DataLoader(pages, batch_size=3, num_workers=2, multiprocessing_context="spawn")).run()


if __name__ == "__main__":
    main()
