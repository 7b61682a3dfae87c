"""Three threads prepare shards and meet before the training starts. One finds its shard empty, and leaves early.

cause: barrier-party-mismatch
"""

import threading

import torch
from torch import nn

from unstall.zoo import announce


class Shards:
    def __init__(self, sizes):
        self.sizes = sizes
        self.ready = {}
        self.together = threading.Barrier(len(sizes) + 1)

    def prepare(self, number):
        if self.sizes[number] == 0:
            return
        self.ready[number] = torch.randn(self.sizes[number], 5)
        self.together.wait()

    def load(self):
        for number in range(len(self.sizes)):
            threading.Thread(target=self.prepare, args=(number,), daemon=True).start()
        announce()
        self.together.wait()  # stalls here
        return torch.cat([self.ready[number] for number in sorted(self.ready)])


def main():
    inputs = Shards([30, 0, 30]).load()
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in inputs.split(10):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
