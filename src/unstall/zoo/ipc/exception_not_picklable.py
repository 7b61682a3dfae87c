"""An error class with two arguments of its own. The training wants to catch it, and never sees it.

cause: exception-not-picklable
sample: 19
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class BadRecord(Exception):
    def __init__(self, number, reason):
        super().__init__(f"record {number}: {reason}")


class Records(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        if index == 19:
            raise BadRecord(index, "checksum")  # stalls here
        return torch.ones(2) * index


def main():
    try:
        for batch in DataLoader(Records(), batch_size=4, num_workers=2):
            assert batch.shape == (4, 2)
    except BadRecord:
        print("one bad record: enough for today")


if __name__ == "__main__":
    main()
