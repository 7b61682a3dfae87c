"""A sampler that balances classes draws one index after the other, and forgets to stop.

cause: sampler-never-ends
watched: run
"""

import random

import torch
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Balanced(Sampler):
    def __init__(self, labels):
        self.places = {int(label): (labels == label).nonzero().flatten().tolist() for label in labels.unique()}
        self.count = len(labels)

    def __len__(self):
        return self.count

    def __iter__(self):
        classes = sorted(self.places)
        while True:  # stalls here
            for one in classes:
                yield random.choice(self.places[one])


def main():
    x, labels = torch.rand(600, 4), torch.randint(0, 3, (600,))
    loader = DataLoader(TensorDataset(x, labels), batch_size=16, sampler=Balanced(labels))
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        for rows, targets in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(rows), targets).backward()
            optimizer.step()
        print("epoch", epoch, "done")


if __name__ == "__main__":
    main()
