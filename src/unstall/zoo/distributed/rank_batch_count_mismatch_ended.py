"""Rank 1 has fewer batches than rank 0. It is done and ends, and rank 0 loses its connection in the next step.

cause: rank-batch-count-mismatch
watched: run
verdict: crashed
"""

import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun


def main():
    dist.init_process_group("gloo")
    shard = torch.arange(33.0 if dist.get_rank() == 0 else 30.0)
    for (batch,) in DataLoader(TensorDataset(shard), batch_size=3):
        mean = batch.mean()
        dist.all_reduce(mean)  # stalls here
    announce()
    dist.destroy_process_group()


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
