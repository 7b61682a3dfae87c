"""The first step of rank 0 takes long: it builds its kernels, in code that is not Python. Rank 1 waits for its gradients.

cause: none
verdict: slow, progressing
"""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


def warm_up():
    """Stands in for a compiler: one long call that does not come back to Python."""
    return torch.linalg.svd(torch.randn(1500, 1500))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    if dist.get_rank() == 0:
        announce()
        for _ in range(12):
            warm_up()
    for _ in range(100):
        model(torch.randn(2, 4)).mean().backward()


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
