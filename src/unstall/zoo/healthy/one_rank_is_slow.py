"""One rank has a slower machine than the others: each of its steps takes seconds. The others wait for it, every time.

cause: none
verdict: slow, progressing
"""

import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def train(rank, world, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=world)
    loader = DataLoader(TensorDataset(torch.randn(400, 4)), batch_size=4, num_workers=1)
    for step, (batch,) in enumerate(loader):
        if rank == 1:
            time.sleep(4.0)
        if step == 1 and rank == 1:
            announce()
        dist.all_reduce(batch)


if __name__ == "__main__":
    mp.spawn(train, args=(2, 20000 + os.getpid() % 20000), nprocs=2)
