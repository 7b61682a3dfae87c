"""Before the second epoch the training waits for features that another job is to write, and that job was
never started.

cause: retry-loop-never-succeeds
"""

import pathlib
import tempfile
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class FeatureStore:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    def write(self, round_number):
        generator = torch.Generator().manual_seed(round_number)
        torch.save(torch.randn(64, 6, generator=generator), self.root / f"round{round_number}.pt")

    def read(self, round_number):
        path = self.root / f"round{round_number}.pt"
        if round_number == 1:
            announce()
        while not path.exists():  # stalls here
            time.sleep(0.5)
        return torch.load(path)


def train(model, optimizer, features):
    for (batch,) in DataLoader(TensorDataset(features), batch_size=16, shuffle=True, num_workers=2):
        loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    store = FeatureStore(tempfile.mkdtemp())
    store.write(0)
    model = torch.nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for round_number in range(4):
        print("round", round_number, "loss", train(model, optimizer, store.read(round_number)), flush=True)


if __name__ == "__main__":
    main()
