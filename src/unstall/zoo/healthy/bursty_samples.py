"""Samples come in bursts: thirty at once, then nothing for four seconds while the next block is unpacked.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Blocks(IterableDataset):
    def __init__(self, blocks):
        self.blocks = blocks

    def unpack(self, block):
        if block == 1:
            announce()
        time.sleep(4)
        return torch.randn(30, 6) + block

    def __iter__(self):
        for block in range(self.blocks):
            yield from self.unpack(block)


def main():
    loader = DataLoader(Blocks(10), batch_size=10, num_workers=1)
    center = torch.nn.Parameter(torch.zeros(6))
    optimizer = torch.optim.Adagrad([center], lr=0.5)
    for rows in loader:
        optimizer.zero_grad()
        (rows - center).square().mean().backward()
        optimizer.step()
        print(center.mean().item(), flush=True)


if __name__ == "__main__":
    main()
