"""Rank 1 draws crops until one of them is not empty. One of its images is all black, so it draws for ever. It has no
workers: the rank itself fetches its samples.

cause: one-rank-stuck-in-data
also: rejection-sampling-never-accepts, infinite-loop-in-getitem
sample: 13
"""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from unstall.zoo import announce


class Crops(Dataset):
    def __init__(self):
        self.images = torch.ones(32, 16, 16)
        self.images[13] = 0

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        if index == 13:
            announce()
        while True:  # stalls here
            top, left = torch.randint(0, 8, (2,)).tolist()  # stalls here
            crop = self.images[index, top : top + 8, left : left + 8]  # stalls here
            if crop.sum() > 0:  # stalls here
                return crop


def train(rank, world, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=world)
    dataset = Crops()
    sampler = DistributedSampler(dataset, num_replicas=world, rank=rank, shuffle=False)
    for crops in DataLoader(dataset, batch_size=2, sampler=sampler):
        mean = crops.mean()
        dist.all_reduce(mean)


if __name__ == "__main__":
    mp.spawn(train, args=(2, 20000 + os.getpid() % 20000), nprocs=2)
