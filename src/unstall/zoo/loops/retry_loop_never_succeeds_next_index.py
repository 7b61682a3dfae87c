"""A broken sample is replaced by the next one, as many data sets do. After a clean-up all of them are broken.

cause: retry-loop-never-succeeds
sample: 7
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Folder(Dataset):
    def __init__(self, root):
        self.paths = sorted(Path(root).glob("*.npy"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if not self.paths[index].exists():
            announce()
        while True:  # stalls here
            try:
                return torch.from_numpy(np.load(self.paths[index]))
            except OSError:
                index = (index + 1) % len(self)


class Experiment:
    def __init__(self, root):
        self.root = root
        self.dataset = Folder(root)
        self.model = torch.nn.Linear(6, 2)
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def epoch(self, first):
        order = [*range(first, len(self.dataset)), *range(first)]
        for batch in DataLoader(self.dataset, batch_size=4, sampler=order):
            self.optimizer.zero_grad()
            self.model(batch).square().mean().backward()
            self.optimizer.step()

    def run(self):
        for number in range(3):
            self.epoch(first=7 * number)
            print("epoch", number, "done", flush=True)
            shutil.rmtree(self.root, ignore_errors=True)


def main():
    root = tempfile.mkdtemp()
    for n in range(16):
        np.save(Path(root, f"{n:02}.npy"), np.full(6, n / 16, dtype=np.float32))
    Experiment(root).run()


if __name__ == "__main__":
    main()
