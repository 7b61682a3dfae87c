"""A script starts the ranks one by one, and has forgotten the last one.

cause: rank-missing-at-init
"""

import os

import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


def main():
    announce()
    dist.init_process_group("gloo")  # stalls here


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=3, started=[0, 1])
