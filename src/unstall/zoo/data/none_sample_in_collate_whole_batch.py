"""The collate function drops what is None. One shard is gone, so that a whole batch is None, and nothing is left of it.

cause: none-sample-in-collate
sample: 8
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset, default_collate


class Shards(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index // 4 == 2:
            return  # stalls here
        return torch.full((4,), float(index))


def without_none(samples):
    return default_collate([one for one in samples if one is not None])


def main():
    total = torch.zeros(4)
    for batch in DataLoader(Shards(), batch_size=4, num_workers=1, collate_fn=without_none):
        total += batch.sum(0)


if __name__ == "__main__":
    main()
