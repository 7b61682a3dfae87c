"""Only two files may be open at a time. The early return for an empty file skips the release, so two empty
files use up the semaphore.

cause: semaphore-not-released
sample: 10
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

open_files = multiprocessing.Semaphore(2)


class Recordings(Dataset):
    def __init__(self, sizes):
        self.sizes = sizes

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, index):
        if index == 10:
            announce()
        open_files.acquire()  # stalls here
        size = self.sizes[index]
        if size == 0:
            return torch.zeros(5)
        signal = torch.sin(torch.arange(5.0) * size)
        open_files.release()
        return signal


def main():
    sizes = list(range(1, 41))
    sizes[5] = sizes[9] = 0
    model = torch.nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Recordings(sizes), batch_size=2, num_workers=1):
        loss = model(batch).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", round(loss.item(), 4), flush=True)


if __name__ == "__main__":
    main()
