"""A negative item is drawn until it is one the user has not seen, and this user has seen every item.

cause: rejection-sampling-never-accepts
sample: 20
"""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

ITEMS = 50


class Ratings(Dataset):
    def __init__(self):
        draw = random.Random(1)
        self.seen = [set(draw.sample(range(ITEMS), 10)) for _ in range(64)]
        self.seen[20] = set(range(ITEMS))

    def __len__(self):
        return len(self.seen)

    def __getitem__(self, user):
        if len(self.seen[user]) == ITEMS:
            announce()
        positive = random.choice(sorted(self.seen[user]))
        negative = random.randrange(ITEMS)
        while negative in self.seen[user]:  # stalls here
            negative = random.randrange(ITEMS)
        return user, positive, negative


def main():
    users, items = nn.Embedding(64, 8), nn.Embedding(ITEMS, 8)
    optimizer = torch.optim.SGD([*users.parameters(), *items.parameters()], lr=0.1)
    for step, (user, positive, negative) in enumerate(DataLoader(Ratings(), batch_size=4)):
        difference = (users(user) * (items(positive) - items(negative))).sum(1)
        loss = -nn.functional.logsigmoid(difference).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
