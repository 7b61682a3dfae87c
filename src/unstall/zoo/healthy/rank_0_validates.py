"""Rank 0 alone validates, from a loader of its own with slow workers. The others wait for it at a barrier.

cause: none
verdict: slow, progressing
"""

import os
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


class Slides(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        time.sleep(2.2)
        return torch.full((4,), float(index))


def validate(model):
    with torch.no_grad():
        for number, batch in enumerate(DataLoader(Slides(), batch_size=4, num_workers=1)):
            model(batch)
            if number == 0:
                announce()


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(4, 1)
    for _ in range(2):
        dist.barrier()
        if dist.get_rank() == 0:
            validate(model)
        dist.barrier()


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=2)
