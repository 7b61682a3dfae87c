"""The dataset makes whole batches (`__getitems__`). In one text, the same pair is merged again and again.

cause: infinite-loop-in-getitem
sample: 13
"""

from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


@dataclass
class Merger:
    merges: dict

    def known_pairs(self, symbols):
        return [pair for pair in zip(symbols, symbols[1:], strict=False) if pair in self.merges]

    def apply(self, symbols, pair):
        merged = []
        for symbol in symbols:
            if merged and (merged[-1], symbol) == pair and self.merges[pair]:
                merged[-1] = self.merges[pair]
            else:
                merged.append(symbol)
        return merged

    def encode(self, text):
        symbols = list(text)
        while True:  # stalls here
            pairs = self.known_pairs(symbols)
            if not pairs:
                break
            symbols = self.apply(symbols, pairs[0])
        return symbols


class Tokens(Dataset):
    def __init__(self, texts, merger):
        self.texts, self.merger = texts, merger

    def __len__(self):
        return len(self.texts)

    def __getitems__(self, numbers):
        rows = []
        for number in numbers:
            if "xx" in self.texts[number]:
                announce()
            rows.append(torch.tensor([float(len(self.merger.encode(self.texts[number])))]))
        return rows


def main():
    texts = [f"ab and abab, {n}" for n in range(40)]
    texts[13] += " xx"
    merger = Merger({("a", "b"): "ab", ("ab", "ab"): "abab", ("x", "x"): ""})
    model = torch.nn.Linear(1, 1)
    for batch in DataLoader(Tokens(texts, merger), batch_size=4, num_workers=1):
        model(batch).sum().backward()


if __name__ == "__main__":
    main()
