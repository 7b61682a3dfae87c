"""A pipeline of transforms reads files with `Path.read_bytes`. A leftover named pipe has the ending of a
sample, so it was globbed with the others.

cause: open-blocks-on-fifo
sample: 19
"""

import os
import pathlib
import tempfile

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class ReadRaw:
    def __call__(self, path):
        if path.is_fifo():
            announce()
        return path.read_bytes()  # stalls here


class ToTensor:
    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, raw):
        return torch.from_numpy(np.frombuffer(raw, dtype=self.dtype).astype(np.float32))


class Pipeline:
    def __init__(self, *stages):
        self.stages = stages

    def __call__(self, item):
        for stage in self.stages:
            item = stage(item)
        return item


class Folder(Dataset):
    def __init__(self, root, transform):
        self.files = sorted(root.glob("*.raw"))
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.transform(self.files[i])


def main():
    root = pathlib.Path(tempfile.mkdtemp())
    for n in range(24):
        (root / f"frame{n:03}.raw").write_bytes(bytes(range(n, n + 8)))
    (root / "frame019.raw").unlink()
    os.mkfifo(root / "frame019.raw")
    dataset = Folder(root, Pipeline(ReadRaw(), ToTensor(np.uint8)))
    for batch in DataLoader(dataset, batch_size=4, num_workers=0):
        print(batch.mean().item(), batch.std().item(), flush=True)


if __name__ == "__main__":
    main()
