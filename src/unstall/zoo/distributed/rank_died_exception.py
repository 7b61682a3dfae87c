"""The learning rate of rank 0 comes from a table that ends too early. Its launcher starts plain programs.

cause: rank-died
watched: run
verdict: crashed
"""

import os

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children

RATES = [0.1] * 30


def rate_at(step, rank):
    if rank == 0:
        return RATES[step]  # stalls here
    return RATES[-1]


def main():
    dist.init_process_group("gloo")
    weight = torch.ones(8)
    for step in range(100):
        if step == 30:
            announce()
        gradient = torch.rand(8)
        rate = rate_at(step, dist.get_rank())
        dist.all_reduce(gradient)
        weight -= rate * gradient


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=2)
