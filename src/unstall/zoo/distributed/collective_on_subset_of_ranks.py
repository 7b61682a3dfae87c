"""Rank 0 saves a checkpoint every few steps, and has a barrier beside it, inside of its `if`. The other ranks go on to
their next step, and wait there for rank 0.

cause: collective-on-subset-of-ranks
"""

import os
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dataset = TensorDataset(torch.randn(64, 4))
    loader = DataLoader(dataset, batch_size=2, sampler=DistributedSampler(dataset))
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    folder = tempfile.mkdtemp()
    for step, (features,) in enumerate(loader):
        optimizer.zero_grad()
        model(features).mean().backward()
        optimizer.step()
        if step % 5 == 4 and rank == 0:
            torch.save(model.state_dict(), os.path.join(folder, f"{step}.pt"))
            announce()
            dist.barrier()  # stalls here


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
