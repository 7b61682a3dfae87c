"""A loop goes over a dataset itself, which says when it is over.

cause: none
verdict: progressing, slow, finished
"""

import torch
from torch.utils.data import Dataset

from unstall.zoo import announce


class Rows(Dataset):
    def __init__(self, count):
        self.rows = [float(number) for number in range(count)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return torch.tensor([self.rows[index]])


def main():
    data = Rows(40_000)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)
    for _ in range(10):
        for number, x in enumerate(data):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            if number == 100:
                announce()


if __name__ == "__main__":
    main()
