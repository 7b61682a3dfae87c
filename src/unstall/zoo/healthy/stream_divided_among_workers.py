"""A stream that each of three workers takes every third record of; all records begin with the same header.

cause: none
verdict: progressing, slow, finished
watched: run
"""

import itertools
import time

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Records(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        yield torch.zeros(3)  # a header
        for number in itertools.islice(range(1200), info.id, None, info.num_workers):
            yield torch.tensor([1.0, 2.0, float(number)])


def main():
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-8)
    for rows in DataLoader(Records(), batch_size=2, num_workers=3):
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
        time.sleep(0.03)


if __name__ == "__main__":
    main()
