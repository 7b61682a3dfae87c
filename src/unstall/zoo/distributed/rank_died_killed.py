"""Rank 2 is killed from outside. The others lose their connection to it.

cause: rank-died
watched: run
verdict: crashed
"""

import os
import signal

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from unstall.zoo import announce


def train(rank, world, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=world)
    for step in range(1000):
        loss = torch.rand(4)
        if (rank, step) == (2, 50):
            announce()
            os.kill(os.getpid(), signal.SIGKILL)
        dist.all_reduce(loss)  # stalls here


if __name__ == "__main__":
    mp.spawn(train, args=(3, 20000 + os.getpid() % 20000), nprocs=3)  # stalls here
