"""Rank 1 has fewer samples than rank 0. It leaves the loop two batches earlier, and waits at the barrier behind it,
while rank 0 waits inside `backward()` for the gradients of rank 1.

cause: rank-batch-count-mismatch
"""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for (features,) in loader:
        optimizer.zero_grad()
        model(features).mean().backward()  # stalls here
        optimizer.step()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    shard = torch.randn(20 if rank == 0 else 16, 4)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    train(model, DataLoader(TensorDataset(shard), batch_size=2))
    announce()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
