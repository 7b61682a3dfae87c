"""A file that is not there is tried again every second, without any limit: somebody deleted it.

cause: retry-loop-never-succeeds
sample: 20
"""

import os
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Folder(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        if not os.path.exists(path):
            announce()
        while True:  # stalls here
            try:
                with open(path, "rb") as file:
                    data = file.read()
                return torch.tensor(list(data), dtype=torch.float32)
            except FileNotFoundError:
                time.sleep(1)


def main():
    folder = tempfile.mkdtemp()
    paths = [os.path.join(folder, f"{number:03}.bin") for number in range(48)]
    for number, path in enumerate(paths):
        with open(path, "wb") as file:
            file.write(bytes(range(number, number + 16)))
    os.remove(paths[20])

    loader = DataLoader(Folder(paths), batch_size=4, num_workers=2)
    model = nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for step, batch in enumerate(loader):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
