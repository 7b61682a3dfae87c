"""A file is missing, the dataset prints a warning and returns nothing for it. torch does not skip such a sample.

cause: none-sample-in-collate
sample: 21
verdict: crashed
watched: run
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MISSING = {21}


class Pictures(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        try:
            return self.load(index), index % 2
        except FileNotFoundError as error:
            print(f"skipping {error}")
            return None  # stalls here

    def load(self, index):
        if index in MISSING:
            raise FileNotFoundError(f"{index}.png")
        return torch.rand(3, 8, 8)


def main():
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for pictures, labels in DataLoader(Pictures(), batch_size=8, num_workers=2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(pictures), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
