"""The names of the shards are read from standard input when none are given, and nothing was piped in.

cause: waiting-for-user-input
"""

import sys

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Shards(IterableDataset):
    def __init__(self, names):
        self.names = names

    def __iter__(self):
        for name in self.names:
            yield torch.tensor([float(len(name))])


def shard_names(arguments):
    if arguments:
        return arguments
    announce()
    return sys.stdin.read().split()  # stalls here


def main():
    net = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for lengths in DataLoader(Shards(shard_names(sys.argv[1:])), batch_size=2, num_workers=1):
        optimizer.zero_grad()
        net(lengths).square().mean().backward()
        optimizer.step()
        print(net.weight.item())


if __name__ == "__main__":
    main()
