"""Long lines are wrapped at the last blank before the margin, and a word longer than the margin has no blank.

cause: infinite-loop-in-getitem
sample: 14
"""

import random

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

from unstall.zoo import announce

WIDTH = 30


def count_rows(text):
    rows = 1
    while len(text) > WIDTH:  # stalls here
        cut = max(text.rfind(" ", 0, WIDTH), 0)
        text = text[cut:].lstrip()
        rows += 1
    return rows


class Comments(Dataset):
    def __init__(self, size=60):
        words = "the loss went down and then it went up again without a reason".split()
        draw = random.Random(3)
        self.texts = [" ".join(draw.choices(words, k=draw.randint(5, 40))) for _ in range(size)]
        self.texts[14] = "see https://example.org/archive/2021/07/the-whole-thread-on-one-page for more"

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        text = self.texts[index]
        if "http" in text:
            announce()
        return torch.tensor([len(text), count_rows(text)], dtype=torch.float32)


def main():
    comments = Comments()
    sampler = RandomSampler(comments, generator=torch.Generator().manual_seed(11))
    loader = DataLoader(comments, batch_size=4, sampler=sampler, num_workers=2, persistent_workers=True)
    slope = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adagrad([slope])
    for lengths, rows in (batch.T for batch in loader):
        loss = (slope * lengths - rows).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("slope", slope.item(), flush=True)


if __name__ == "__main__":
    main()
