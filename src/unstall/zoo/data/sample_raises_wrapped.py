"""One line of a file is cut off. Its error is wrapped twice, and the training wraps it again.

cause: sample-raises
sample: 26
verdict: crashed
watched: run
"""

import json

import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset

LINES = [json.dumps({"x": n, "y": 2 * n}) for n in range(60)]
LINES[26] = LINES[26][:-4]


class BadLine(Exception):
    pass


class Lines(Dataset):
    def __len__(self):
        return len(LINES)

    def __getitem__(self, index):
        try:
            row = self.parse(index)
        except ValueError as error:
            raise BadLine(f"line {index}") from error
        return torch.tensor([row["x"], row["y"]], dtype=torch.float32)

    def parse(self, index):
        return json.loads(LINES[index])  # stalls here


def train(loader):
    try:
        return sum(float(batch.sum()) for batch in loader)
    except Exception as error:
        raise SystemError("training failed") from error


def main():
    everything = ConcatDataset([Subset(Lines(), range(50)), Lines()])
    train(DataLoader(everything, batch_size=6, num_workers=2, multiprocessing_context="spawn"))


if __name__ == "__main__":
    main()
