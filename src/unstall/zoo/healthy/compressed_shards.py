"""Each sample is a whole compressed array; to unpack one takes a second or two.

cause: none
verdict: progressing, slow
"""

import gzip
import os
import tempfile

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def write_shard(path):
    values = np.random.default_rng(0).integers(0, 50, size=20_000_000, dtype=np.uint8)
    with gzip.open(path, "wb", compresslevel=1) as file:
        np.save(file, values)


class Shards(Dataset):
    def __init__(self, path, number):
        self.path, self.number = path, number

    def __len__(self):
        return self.number

    def __getitem__(self, shard):
        if shard == 2:
            announce()
        with gzip.open(self.path) as file:
            values = np.load(file)
        return torch.from_numpy(np.bincount(values, minlength=50) / len(values)).float()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "shard.npy.gz")
        write_shard(path)
        model = torch.nn.Linear(50, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for frequencies in DataLoader(Shards(path, 190), batch_size=1, num_workers=1):
            optimizer.zero_grad()
            model(frequencies).square().mean().backward()
            optimizer.step()
            print("shard done", flush=True)


if __name__ == "__main__":
    main()
