"""All workers share a lock around their scanner and hold it for 0.2 s each.

They wait for each other, and nobody for ever.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Scanner(Dataset):
    def __init__(self, number):
        self.number = number
        self.lock = multiprocessing.Lock()

    def __len__(self):
        return self.number

    def __getitem__(self, sheet):
        if sheet == 10:
            announce()
        with self.lock:
            time.sleep(0.2)
        return torch.tensor([sheet / self.number])


def main():
    loader = DataLoader(Scanner(240), batch_size=3, num_workers=4)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        print("step", step, flush=True)


if __name__ == "__main__":
    main()
