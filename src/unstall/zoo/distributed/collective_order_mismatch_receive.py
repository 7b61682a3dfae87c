"""Two stages of a pipeline exchange their activations. Each wants to receive before it sends.

cause: collective-order-mismatch
"""

import os

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


def exchange(mine, neighbour):
    theirs = torch.empty_like(mine)
    dist.recv(theirs, src=neighbour)  # stalls here
    dist.send(mine, dst=neighbour)
    return theirs


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dist.barrier()
    announce()
    exchange(torch.ones(8), neighbour=1 - rank)


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=2)
