"""Records are cycled through with itertools, in the training process itself; after the epoch, a checkpoint is due.

cause: iterable-never-ends
"""

import itertools

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Records(IterableDataset):
    def __init__(self, records):
        self.records = records

    def __iter__(self):
        for record in itertools.cycle(self.records):  # stalls here
            yield self.parsed(record)

    def parsed(self, record):
        return torch.tensor([float(part) for part in record.split(",")])


def main():
    records = Records([",".join(str(row * column % 17) for column in range(60)) for row in range(300)])
    model = torch.nn.Linear(60, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    for step, x in enumerate(DataLoader(records, batch_size=16)):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        if step == 100:
            announce()
    torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
