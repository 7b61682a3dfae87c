"""A home-made e-mail pattern is compiled once as a class attribute; an address without an ending keeps it
busy for ages.

cause: regex-catastrophic-backtracking
sample: 17
"""

import re

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Anonymiser:
    address = re.compile(r"([\w.]+[-_.]?)+@(\w+\.)+\w{2,}")

    def __call__(self, word):
        return "<mail>" if self._is_address(word) else word

    def _is_address(self, word):
        return "@" in word and self.address.fullmatch(word) is not None  # stalls here


class Messages(Dataset):
    def __init__(self, messages, vocabulary):
        self.messages = messages
        self.vocabulary = vocabulary
        self.clean = Anonymiser()

    def __len__(self):
        return len(self.messages)

    def __getitem__(self, key):
        if "@localhost" in self.messages[key]:
            announce()
        words = [self.clean(word) for word in self.messages[key].split()]
        return torch.tensor([self.vocabulary.get(word, 0) for word in words])


def main():
    messages = ["write to ann@example.org now"] * 17
    messages += ["write to the.whole.mailing.list.of.the.physics.department@localhost now"]
    messages += ["write to bob@example.net today"] * 20
    vocabulary = {"write": 1, "to": 2, "<mail>": 3, "now": 4, "today": 5}
    bag = torch.nn.EmbeddingBag(6, 4)
    optimizer = torch.optim.SGD(bag.parameters(), lr=0.2)
    for words in DataLoader(Messages(messages, vocabulary), batch_size=1, num_workers=0):
        loss = (bag(words) - 1).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.3f}")


if __name__ == "__main__":
    main()
