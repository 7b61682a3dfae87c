"""A ramp is built in steps of 0.1 until it is exactly equal to its end, which floating point numbers never
are.

cause: infinite-loop-in-getitem
sample: 41
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Ramps(Dataset):
    def __len__(self):
        return 100

    def _area(self, end, step):
        position, area = 0.0, 0.0
        while True:  # stalls here
            if position == end:
                return area
            area += position * step
            position += step

    def __getitem__(self, number):
        if number == 41:
            announce()
            return torch.tensor([0.8, self._area(0.8, 0.1)])
        return torch.tensor([float(number), self._area(float(number), 0.5)])


class Trainer:
    def __init__(self, model, lr=1e-4, max_epochs=5):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.max_epochs = max_epochs
        self.losses = []

    def fit(self, loader):
        for epoch in range(self.max_epochs):
            self._run_epoch(epoch, loader)

    def _run_epoch(self, epoch, loader):
        for index, batch in enumerate(loader):
            self._step(batch)
            print(f"epoch {epoch} batch {index}: {self.losses[-1]:.2f}")

    def _step(self, batch):
        loss = torch.nn.functional.smooth_l1_loss(self.model(batch[:, :1]), batch[:, 1:])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())


def main():
    Trainer(torch.nn.Linear(1, 1)).fit(DataLoader(Ramps(), batch_size=10, num_workers=0))


if __name__ == "__main__":
    main()
