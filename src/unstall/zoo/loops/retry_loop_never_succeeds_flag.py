"""Workers wait until the training says that the statistics are ready. It says so after the first batch.

cause: retry-loop-never-succeeds
sample: 0
"""

import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Scaled(Dataset):
    def __init__(self, values, ready):
        self.values, self.ready = values, ready

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        announce()
        while not self.ready.value:  # stalls here
            time.sleep(0.1)
        return self.values[index]


def main():
    ready = multiprocessing.Value("b", False)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x in DataLoader(Scaled(torch.rand(40, 3), ready), batch_size=4, num_workers=2):
        ready.value = True
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
