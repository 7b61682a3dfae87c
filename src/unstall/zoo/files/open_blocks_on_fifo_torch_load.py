"""A tensor should arrive through a named pipe from a decoder that was never started; `torch.load` waits in
`open`.

cause: open-blocks-on-fifo
sample: 5
"""

import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def load_tensor(folder, key):
    path = os.path.join(folder, f"{key:05}.pt")
    if not os.path.isfile(path):
        announce()
    return torch.load(path, weights_only=True)  # stalls here


class SavedTensors(Dataset):
    def __init__(self, folder, keys):
        self.folder = folder
        self.keys = keys

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, index):
        tensor = load_tensor(self.folder, self.keys[index])
        return tensor / tensor.norm()


def main():
    folder = tempfile.mkdtemp()
    for key in range(100, 115):
        torch.save(torch.randn(6), os.path.join(folder, f"{key:05}.pt"))
    os.mkfifo(os.path.join(folder, "00115.pt"))
    keys = [*range(100, 105), 115, *range(105, 115)]
    loader = DataLoader(
        SavedTensors(folder, keys),
        batch_size=1,
        num_workers=2,
        persistent_workers=True,
        multiprocessing_context="forkserver",
    )
    for epoch in range(2):
        for unit in loader:
            print(epoch, unit[0, :3].tolist(), flush=True)


if __name__ == "__main__":
    main()
