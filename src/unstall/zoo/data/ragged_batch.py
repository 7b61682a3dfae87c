"""One picture of many is grey: it has one channel, the others have three.

cause: ragged-batch
sample: 43
verdict: crashed
watched: run
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        channels = 1 if index == 43 else 3
        picture = torch.rand(channels, 16, 16)
        return picture, index % 4  # stalls here


def main():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 14 * 14, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for pictures, labels in DataLoader(Pictures(), batch_size=12, num_workers=2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(pictures), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
