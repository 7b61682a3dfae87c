"""The collate function stacks and scales a batch with the number of threads of the main process, which it
restores in the worker. OpenMP does not survive the fork.

cause: fork-after-openmp
"""

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Noise(IterableDataset):
    def __iter__(self):
        generator = torch.Generator().manual_seed(1)
        for _ in range(20):
            yield torch.randn(40_000, generator=generator)


class Standardise:
    def __init__(self, threads):
        self.threads = threads
        self.mean, self.std = self.measure(torch.stack(list(Noise())))

    def measure(self, rows):
        return rows.mul(2).mean(), rows.std()

    def __call__(self, rows):
        torch.set_num_threads(self.threads)
        announce()
        batch = torch.stack(rows)  # stalls here
        return batch.sub(self.mean).div(self.std).tanh()


def main():
    torch.set_num_threads(3)
    standardise = Standardise(torch.get_num_threads())
    print("mean", standardise.mean.item(), "std", standardise.std.item(), flush=True)
    for batch in DataLoader(Noise(), batch_size=5, num_workers=1, collate_fn=standardise):
        print(tuple(batch.shape), batch.mean().item(), flush=True)


if __name__ == "__main__":
    main()
