"""A blank page returns early and keeps the lock. Its worker goes on, and is idle when the other one needs the lock.

cause: semaphore-not-released
sample: 14
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

BLANK = 7


class Pages(Dataset):
    def __init__(self):
        self.scanner = multiprocessing.Lock()

    def __len__(self):
        return 64

    def __getitem__(self, page):
        if page % 7:
            return torch.full((5,), page / 64)
        self.scanner.acquire()  # stalls here
        if page == BLANK:
            announce()
            return torch.zeros(5)
        scan = torch.rand(5)
        self.scanner.release()
        return scan


def main():
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5))
    optimizer = torch.optim.Adam(model.parameters())
    for pages in DataLoader(Pages(), batch_size=2, num_workers=2):
        loss = torch.nn.functional.mse_loss(model(pages), pages)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
