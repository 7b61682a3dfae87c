"""One worker's shard has 8 samples, the other's 160 slow ones. The first worker is soon done and idle.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce


class Shards(IterableDataset):
    def __init__(self, lengths):
        self.lengths = lengths

    def __iter__(self):
        shard = get_worker_info().id
        for number in range(self.lengths[shard]):
            if shard == 1 and number == 20:
                announce()
            time.sleep(0.3)
            yield torch.tensor([shard, number], dtype=torch.float32)


def main():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adagrad(model.parameters())
    for batch in DataLoader(Shards([8, 160]), batch_size=4, num_workers=2):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        print("shard", int(batch[0, 0]), "at", int(batch[-1, 1]), flush=True)


if __name__ == "__main__":
    main()
