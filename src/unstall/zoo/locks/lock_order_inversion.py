"""Mixing two shards locks the first, then the second. One worker mixes (0, 1) while the other mixes (1, 0),
so each holds the lock that the other one needs.

cause: lock-order-inversion
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class MixedShards(Dataset):
    def __init__(self, pairs):
        self.pairs = pairs
        self.shard_locks = [multiprocessing.Lock() for _ in range(4)]
        self.both_opened = multiprocessing.Barrier(2)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        first, second = self.pairs[index]
        with self.shard_locks[first]:
            base = torch.full((3,), float(first))
            if {first, second} == {0, 1}:
                self.both_opened.wait()
                if first == 0:
                    announce()
            with self.shard_locks[second]:  # stalls here
                return 0.7 * base + 0.3 * second


def main():
    pairs = [(2, 3)] * 8 + [(0, 1), (1, 0)] + [(2, 3)] * 10
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(MixedShards(pairs), batch_size=1, num_workers=2):
        loss = (model(batch) - batch).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
