"""Each rank reads its settings from a named pipe first. Nobody writes into that of rank 1, which does not come to
`init_process_group` for that reason.

cause: rank-missing-at-init
also: open-blocks-on-fifo
"""

import os
import tempfile

import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


def settings(rank):
    path = os.path.join(tempfile.mkdtemp(), f"settings-{rank}")
    if rank == 0:
        return {}
    os.mkfifo(path)
    announce()
    with open(path) as file:  # stalls here
        return dict(line.split("=") for line in file)


def main():
    known = settings(int(os.environ["RANK"]))
    dist.init_process_group("gloo", **known)


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=2)
