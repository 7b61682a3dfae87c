"""Each rank stops by itself when its loss is small enough. One of them gets there first, and waits at the end for the
others, who wait for it in their next step.

cause: rank-batch-count-mismatch
"""

import itertools
import os

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


def fit(weight, batches):
    step = 0
    while True:
        batch = next(batches)
        loss = (weight * batch).abs().mean()
        if loss < 0.2:
            break
        gradient = torch.sign(weight) * batch.mean()
        work = dist.all_reduce(gradient, async_op=True)
        work.wait()  # stalls here
        weight = weight - 0.05 * gradient
        step += 1
    return step, weight


def main():
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo")
    batches = (torch.full((4,), 1.0 if rank else 0.3) for _ in itertools.count())
    step, weight = fit(torch.tensor(1.0), batches)
    print("rank", rank, "stopped after step", step, flush=True)
    announce()
    everything = [torch.zeros(()) for _ in range(2)]
    dist.all_gather(everything, weight)


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=2)
