"""The ranks have different numbers of batches, and `Join` answers for the one that is done.

cause: none
verdict: slow, progressing
"""

import os
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    with Join([model]):
        for step in range(4 if rank == 1 else 60):
            model(torch.randn(2, 4)).mean().backward()
            if rank == 0 and step == 5:
                announce()
            if step > 4:
                time.sleep(2.5)


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
