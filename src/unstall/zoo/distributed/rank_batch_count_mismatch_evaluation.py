"""The files are dealt out to the ranks, and one rank has got one file less. It is at its evaluation already, and adds up
the scores there, while the others average the gradients of their last batch.

cause: rank-batch-count-mismatch
"""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from unstall.zoo import announce

FILES = [f"part-{number}" for number in range(8)]


class Trainer:
    def __init__(self, rank, world):
        self.rank, self.world = rank, world
        self.model = torch.nn.Linear(8, 2)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def average_gradients(self):
        for parameter in self.model.parameters():
            dist.all_reduce(parameter.grad)  # stalls here
            parameter.grad /= self.world

    def train_epoch(self):
        for name in FILES[self.rank :: self.world]:
            batch = torch.randn(4, 8) + len(name)
            self.optimizer.zero_grad()
            self.model(batch).square().mean().backward()
            self.average_gradients()
            self.optimizer.step()

    def evaluate(self):
        if self.rank == self.world - 1:
            announce()
        score = torch.ones(2)
        dist.reduce(score, dst=0)
        return score


def run(rank, world, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    trainer = Trainer(rank, world)
    for _ in range(3):
        trainer.train_epoch()
        trainer.evaluate()


if __name__ == "__main__":
    mp.spawn(run, args=(3, 20000 + os.getpid() % 20000), nprocs=3)
