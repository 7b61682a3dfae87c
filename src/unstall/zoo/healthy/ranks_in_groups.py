"""Half of the ranks train, the other half prepares data for them; each half has a group of its own. The two that prepare
are at a barrier of their group for long, because one of them is slow.

cause: none
verdict: slow, progressing
"""

import os
import time

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    for step in range(200):
        if rank == 3:
            time.sleep(3.0)
        if rank < 2:
            time.sleep(0.3)
            dist.all_reduce(torch.ones(4), group=groups[0])
        else:
            if step == 1 and rank == 2:
                announce()
            dist.barrier(group=groups[1])


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=4)
