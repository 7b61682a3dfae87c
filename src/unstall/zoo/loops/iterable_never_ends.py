"""A stream of sentences starts over when the file has been read. The training waits for the end of each epoch.

cause: iterable-never-ends
"""

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce


class Sentences(IterableDataset):
    def __init__(self, count):
        self.lengths = [1 + number % 20 for number in range(count)]

    def __iter__(self):
        info = get_worker_info()
        while True:  # stalls here
            for length in self.lengths[info.id :: info.num_workers]:
                yield torch.tensor([length, length * 2]) / 20


class Trainer:
    def __init__(self, loader):
        self.loader = loader
        self.model = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.losses = []

    def fit(self, epochs):
        for epoch in range(epochs):
            for number, batch in enumerate(self.loader):
                self.losses.append(self.step(batch))
                if number == 200:
                    announce()
            print(f"epoch {epoch}: {sum(self.losses) / len(self.losses):.4f}")

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    Trainer(DataLoader(Sentences(400), batch_size=8, num_workers=2)).fit(5)
