"""The owners of some buffers send them to the other rank. Which one comes first is decided by a set of names, and sets of
texts have another order in every process.

cause: collective-order-mismatch
"""

import os

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun

OWNERS = {"mean": 0, "variance": 1}


def wanted(rank):
    """What `set(OWNERS)` may give: its order depends on the hashes of texts, which differ between processes."""
    return ["mean", "variance"] if rank == 0 else ["variance", "mean"]


def share(buffers, names):
    for name in names:
        dist.broadcast(buffers[name], src=OWNERS[name])  # stalls here


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    buffers = {name: torch.full((1000,), float(rank)) for name in OWNERS}
    for name in OWNERS:
        dist.broadcast(buffers[name], src=OWNERS[name])
    names = wanted(rank)
    announce()
    share(buffers, names[::-1])


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
