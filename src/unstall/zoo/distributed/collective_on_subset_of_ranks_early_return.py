"""Only rank 0 writes a log, so the function that logs returns at once on all others. It also averages the loss over all
ranks, behind that `return`.

cause: collective-on-subset-of-ranks
"""

import os

import torch
import torch.distributed as dist

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import as_children


class Logger:
    def __init__(self):
        self.chief = dist.get_rank() == 0
        self.is_main_process = self.chief

    def log(self, step, loss):
        if not self.is_main_process:
            return
        total = loss.detach().clone()
        announce()
        dist.reduce(total, dst=0)  # stalls here
        print("step", step, "loss", float(total) / dist.get_world_size(), flush=True)


def train(model, logger):
    for step in range(100):
        loss = model(torch.randn(4, 4)).mean()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        model.zero_grad()
        if step == 7:
            logger.log(step, loss)


def main():
    dist.init_process_group("gloo")
    train(torch.nn.Linear(4, 1), Logger())


if __name__ == "__main__":
    main() if "RANK" in os.environ else as_children(__file__, ranks=3)
