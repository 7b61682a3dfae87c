"""Even and odd ranks have code of their own. Both average the loss and share the best score, but in different order.

cause: collective-order-mismatch
"""

import os

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


def synchronise(rank, loss, best):
    if rank % 2 == 0:
        dist.all_reduce(loss)  # stalls here
        dist.broadcast(best, src=0)
    else:
        announce()
        dist.broadcast(best, src=0)  # stalls here
        dist.all_reduce(loss)


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    for step in range(3):
        loss = torch.rand(4) * step
        dist.all_reduce(loss)
    synchronise(rank, torch.rand(4), torch.rand(100))


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=2)
