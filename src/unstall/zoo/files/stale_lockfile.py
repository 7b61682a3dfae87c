"""A run that was killed left its lockfile behind. The dataset waits until the file goes away, which nobody
will do.

cause: stale-lockfile
sample: 6
"""

import os
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Downloads(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 30

    def __getitem__(self, index):
        lock = os.path.join(self.folder, f"{index}.lock")
        if os.path.exists(lock):
            announce()
        while os.path.exists(lock):  # stalls here
            time.sleep(0.2)
        return torch.tensor([index, 1.0])


def main():
    folder = tempfile.mkdtemp()
    open(os.path.join(folder, "6.lock"), "w").close()
    model = torch.nn.Linear(2, 1)
    for batch in DataLoader(Downloads(folder), batch_size=2, num_workers=2):
        print(model(batch).sum().item(), flush=True)


if __name__ == "__main__":
    main()
