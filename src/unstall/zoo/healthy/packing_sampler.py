"""A batch sampler packs thousands of lengths into batches before the first one: the list gets shorter and shorter.

cause: none
verdict: progressing, slow, finished
"""

import random

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class PackedBatches:
    def __init__(self, lengths, budget):
        self.lengths = lengths
        self.budget = budget

    def __iter__(self):
        remaining = sorted(range(len(self.lengths)), key=lambda index: self.lengths[index])
        packs = []
        announce()
        while remaining:
            room, pack = self.budget, []
            for place in reversed(range(len(remaining))):
                if self.lengths[remaining[place]] <= room:
                    room -= self.lengths[remaining[place]]
                    pack.append(remaining.pop(place))
            packs.append(pack)
        random.shuffle(packs)
        yield from packs


def main():
    draw = random.Random(5)
    lengths = [draw.randrange(200, 900) for _ in range(20000)]
    rows = TensorDataset(torch.tensor(lengths, dtype=torch.float32)[:, None])
    scale = torch.nn.Linear(1, 1)
    adam = torch.optim.Adam(scale.parameters())
    for step, (batch,) in enumerate(DataLoader(rows, batch_sampler=PackedBatches(lengths, 1000), num_workers=1)):
        adam.zero_grad()
        scale(batch).square().mean().backward()
        adam.step()
        print("step", step, flush=True)


if __name__ == "__main__":
    main()
