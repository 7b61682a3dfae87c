"""Rank 0 writes a large checkpoint for a long time. Rank 1 waits for it at the barrier behind: that is what it is for.

cause: none
verdict: slow, progressing
"""

import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


def save_slowly(model, rank):
    if rank == 0:
        announce()
        with open(os.devnull, "wb") as file:
            for _ in range(300):
                torch.save(model.state_dict(), file)
                time.sleep(0.1)
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(64, 64))
    for _ in range(3):
        model(torch.randn(2, 64)).mean().backward()
        save_slowly(model, dist.get_rank())


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
