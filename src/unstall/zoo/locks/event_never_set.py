"""Workers wait until the training says that the scaler is fitted. It says so after the first batch.

cause: event-never-set
"""

import multiprocessing

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Scaled(Dataset):
    def __init__(self, fitted):
        self.fitted = fitted
        self.x = torch.randn(64, 4)

    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 0:
            announce()
        self.fitted.wait()  # stalls here
        return self.x[index] / 2


def main():
    fitted = multiprocessing.Event()
    batches = iter(DataLoader(Scaled(fitted), batch_size=8, num_workers=2))
    model = nn.Linear(4, 1)
    first = next(batches)
    scale = first.std()
    fitted.set()
    for batch in batches:
        loss = (model(batch) * scale).square().mean()
        loss.backward()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
