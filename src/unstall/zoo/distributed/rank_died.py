"""Rank 1 can't read one of its samples, and ends with an exception. Rank 0 fails a moment later with an error about its
connection, which is all that is on the last page of the screen.

cause: rank-died
also: sample-raises
watched: run
verdict: crashed
sample: 25
"""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


class Numbers(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 25:
            announce()
            raise OSError(f"row {index} is cut off")  # stalls here
        return torch.full((4,), float(index))


def main():
    dist.init_process_group("gloo")
    dataset = Numbers()
    loader = DataLoader(dataset, batch_size=2, sampler=DistributedSampler(dataset, shuffle=False), num_workers=1)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    for features in loader:
        model(features).mean().backward()


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
