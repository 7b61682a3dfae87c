"""A missing file is tried six times, two seconds apart, and then replaced by zeros.

Four files in a row are missing.

cause: none
verdict: progressing, slow
"""

import pathlib
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Files(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def load(self, path):
        for attempt in range(6):
            try:
                return torch.load(path)
            except FileNotFoundError:
                print(f"{path.name}: attempt {attempt} failed", flush=True)
                time.sleep(2)
        return torch.zeros(5)

    def __getitem__(self, index):
        if index == 20:
            announce()
        return self.load(self.paths[index])


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, f"{n}.pt") for n in range(40)]
        for n, path in enumerate(paths):
            if n not in (20, 21, 22, 23):
                torch.save(torch.randn(5), path)
        model = torch.nn.Linear(5, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in DataLoader(Files(paths), batch_size=4, num_workers=2):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            print("batch done", flush=True)


if __name__ == "__main__":
    main()
