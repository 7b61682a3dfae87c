"""One sample takes eight seconds, once, because its disk has to spin up first. The others are quick.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Records(Dataset):
    def __init__(self, number):
        self.number = number

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        if index == 20:
            announce()
            time.sleep(8)
        time.sleep(0.1)
        return torch.full((3,), index / self.number)


def main():
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Records(560), batch_size=5, num_workers=2):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
