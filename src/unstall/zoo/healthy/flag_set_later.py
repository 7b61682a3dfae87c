"""Workers wait for a flag that a thread of the training sets, once it has collected the statistics.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import threading
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
        while not self.ready.value:
            time.sleep(0.1)
        return self.values[index]


def collect(values, ready):
    announce()
    for part in values.split(2):
        time.sleep(1.5)
        part.mean()
    ready.value = True


def main():
    ready, values = multiprocessing.Value("b", False), torch.rand(40, 3)
    threading.Thread(target=collect, args=(values, ready), daemon=True).start()
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x in DataLoader(Scaled(values, ready), batch_size=4, num_workers=2):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
