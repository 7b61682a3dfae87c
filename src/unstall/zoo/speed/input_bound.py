"""Two workers soften each picture in a thousand small passes. The training step takes a moment, and waits for the rest.

cause: input-bound
verdict: slow
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset

SIZE = 24


class Pictures(Dataset):
    def __init__(self, pictures, soften=None):
        self.pictures = pictures
        self.soften = soften

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        picture = self.pictures[index]
        if self.soften:
            picture = self.soften(picture)
        return picture.flatten(), index % 10


def soften(picture):
    for _ in range(1000):
        picture = (picture + picture.roll(1, 0) + picture.roll(1, 1)) / 3  # stalls here
    return picture


def main():
    torch.set_num_threads(1)
    data = Pictures(torch.rand(4000, SIZE, SIZE), soften)
    model = torch.nn.Linear(SIZE * SIZE, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        for pictures, labels in DataLoader(data, batch_size=16, num_workers=2):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(pictures), labels).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
