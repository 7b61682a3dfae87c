"""Rank 1's worker waits for ever for the lock of an index file, which a forgotten process holds. Rank 0 has its batch,
and waits for rank 1's gradients.

cause: one-rank-stuck-in-data
also: file-lock-held
sample: 21
"""

import fcntl
import os
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from unstall.zoo import announce
from unstall.zoo.distributed._ranks import by_torchrun

HOLDER = """
import fcntl, sys, time
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(100000)
"""


class Corpus(Dataset):
    def __init__(self, index_path):
        self.index_path = index_path

    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 21:
            with open(self.index_path) as file:
                announce()
                fcntl.flock(file, fcntl.LOCK_SH)  # stalls here
        return torch.full((4,), float(index))


def main():
    dist.init_process_group("gloo")
    with tempfile.NamedTemporaryFile() as index:
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, index.name], stdout=subprocess.PIPE)
        holder.stdout.readline()
        dataset = Corpus(index.name)
        sampler = DistributedSampler(dataset, shuffle=False)
        loader = DataLoader(dataset, batch_size=2, sampler=sampler, num_workers=1)
        model = DistributedDataParallel(torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for features in loader:
            optimizer.zero_grad()
            model(features).mean().backward()
            optimizer.step()


if __name__ == "__main__":
    main() if "RANK" in os.environ else by_torchrun(__file__, ranks=2)
