"""A retry decorator without a limit is put on a read that fails for good: the shard has fewer records than
its index says.

cause: retry-loop-never-succeeds
sample: 30
"""

import io

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce
from unstall.zoo.loops._resilient import retry

RECORD = 32


class Shard:
    def __init__(self, records):
        self.blob = b"".join(bytes([n]) * RECORD for n in range(records))

    @retry(OSError, EOFError, pause=0.2)
    def record(self, number):
        stream = io.BytesIO(self.blob)
        stream.seek(number * RECORD)
        data = stream.read(RECORD)
        if len(data) < RECORD:
            raise EOFError(f"record {number} ends early")
        return data


class ShardedDataset(Dataset):
    def __init__(self, shards, index):
        self.shards = shards
        self.index = index

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        shard, number = self.index[i]
        if number == 10:
            announce()
        return torch.tensor(list(self.shards[shard].record(number))).float()


def main():
    index = [(shard, number) for shard in range(3) for number in range(10)]
    index += [(0, 10)] + [(1, number) for number in range(9)]
    dataset = ShardedDataset([Shard(10) for _ in range(3)], index)
    loader = DataLoader(dataset, batch_size=5, num_workers=2)
    weights = torch.zeros(RECORD, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=1e-4)
    for batch in loader:
        optimizer.zero_grad()
        (batch @ weights - 1).square().mean().backward()
        optimizer.step()
        print(f"|w| = {weights.norm().item():.5f}", flush=True)


if __name__ == "__main__":
    main()
