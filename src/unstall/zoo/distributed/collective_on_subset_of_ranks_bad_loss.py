"""A rank whose loss is not finite tells the others with a broadcast. Those have nothing bad to tell, don't call it, and go
on to the gradients.

cause: collective-on-subset-of-ranks
"""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from unstall.zoo import announce


def main(number, total):
    dist.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{20000 + os.getppid() % 20000}", rank=number, world_size=total
    )
    torch.set_num_threads(1)
    weight = torch.ones(3, requires_grad=True)
    for step in range(50):
        batch = torch.full((3,), float("inf") if (number, step) == (1, 6) else 1.0)
        loss = (weight * batch).sum()
        broken = not bool(torch.isfinite(loss))
        if broken:
            announce()
            dist.broadcast(torch.ones(1), src=number)  # stalls here
            continue
        (gradient,) = torch.autograd.grad(loss, weight)
        dist.all_reduce(gradient)
        weight = (weight - 0.01 * gradient).detach().requires_grad_()


if __name__ == "__main__":
    mp.start_processes(main, args=(2,), nprocs=2, start_method="fork")
