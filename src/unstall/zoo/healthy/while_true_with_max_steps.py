"""The training loop is a `while True` that starts its loader again whenever that is used up.

It ends at the last step.

cause: none
verdict: progressing
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Words(Dataset):
    words = "stuck slow quick alive idle busy".split()

    def __len__(self):
        return len(self.words)

    def __getitem__(self, n):
        time.sleep(0.03)
        return torch.tensor([ord(letter) for letter in self.words[n].ljust(5)]) - 32


class Loop:
    def __init__(self, max_steps):
        self.max_steps = max_steps
        self.step = 0
        self.model = torch.nn.EmbeddingBag(96, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def run(self, loader):
        batches = iter(loader)
        while True:
            try:
                batch = next(batches)
            except StopIteration:
                batches = iter(loader)
                continue
            self.update(batch)
            if self.step >= self.max_steps:
                break

    def update(self, batch):
        self.optimizer.zero_grad()
        self.model(batch).square().mean().backward()
        self.optimizer.step()
        self.step += 1
        if self.step == 20:
            announce()


def main():
    Loop(max_steps=700).run(DataLoader(Words(), batch_size=2, shuffle=True))


if __name__ == "__main__":
    main()
