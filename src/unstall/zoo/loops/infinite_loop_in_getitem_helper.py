"""A helper thins images out by a step that depends on their size, and for one validation image the step is 1.

The image never becomes smaller. Training was fine; the first validation does not end.

cause: infinite-loop-in-getitem
sample: 9
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo.loops._thumbnails import FitInto


class Scans(Dataset):
    def __init__(self, sides, transform):
        self.sides = sides
        self.transform = transform

    def __len__(self):
        return len(self.sides)

    def __getitem__(self, index):
        side = self.sides[index]
        small = self.transform(torch.rand(1, side, side))
        return small.mean(), small.std()


def main():
    fit = FitInto(budget=900)
    options = {"batch_size": 3, "num_workers": 2, "persistent_workers": True}
    train_loader = DataLoader(Scans([64, 80, 96, 128] * 10, fit), shuffle=True, **options)
    valid_loader = DataLoader(Scans([64] * 9 + [40] + [80] * 8, fit), **options)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        model.train()
        for mean, deviation in train_loader:
            loss = nn.functional.l1_loss(model(mean[:, None]), deviation[:, None])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: train {loss.item():.3f}", flush=True)
        model.eval()
        with torch.no_grad():
            for mean, deviation in valid_loader:
                print("valid", (model(mean[:, None]) - deviation[:, None]).abs().mean().item(), flush=True)


if __name__ == "__main__":
    main()
