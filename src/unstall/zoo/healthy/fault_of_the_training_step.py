"""An ordinary mistake in the training step, after an error of a sample that was caught: neither the data nor a worker is to blame.

cause: none
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 12:
            raise KeyError(f"no label for {index}")
        return torch.ones(3) * index


def main():
    model = torch.nn.Linear(4, 1)
    batches = iter(DataLoader(Rows(), batch_size=4, num_workers=2))
    for number in range(10):
        try:
            batch = next(batches)
        except KeyError:
            continue
        if number > 5:
            model(batch).sum().backward()


if __name__ == "__main__":
    main()
