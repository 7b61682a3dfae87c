"""Rank 1 prepares its data before it joins the others, who wait for it in `init_process_group`.

cause: none
verdict: slow, progressing
"""

import os

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


def prepare():
    table = torch.zeros(200)
    for row in range(3_000_000):
        table[row % 200] += row
    return table


def main():
    torch.set_num_threads(1)
    if os.environ["RANK"] == "1":
        announce()
        prepare()
    dist.init_process_group("gloo")


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=2)
