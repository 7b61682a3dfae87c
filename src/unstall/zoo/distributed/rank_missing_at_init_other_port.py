"""The port is made from the number of the job, and one rank was given another one by hand.

cause: rank-missing-at-init
"""

import os

import torch.distributed as dist
import torch.multiprocessing as mp

from unstall.zoo import announce


def connect(rank, job):
    port = 20000 + job % 20000
    if rank == 1:
        port += 1
        announce()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=3)  # stalls here


if __name__ == "__main__":
    mp.spawn(connect, args=(os.getpid(),), nprocs=3)
