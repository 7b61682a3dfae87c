"""A batch sampler groups texts of similar length. It starts over when a group is used up, and so never comes to an end.

cause: sampler-never-ends
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    lengths = [1 + number * 7 % 30 for number in range(300)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return torch.ones(self.lengths[index])


class ByLength:
    def __init__(self, lengths, size):
        self.order, self.size = sorted(range(len(lengths)), key=lengths.__getitem__), size

    def __len__(self):
        return len(self.order) // self.size

    def __iter__(self):  # stalls here
        batch, place = [], 0
        while place < len(self.order):
            batch.append(self.order[place])
            place += 1
            if len(batch) == self.size:
                yield batch
                batch = []
            if place == len(self.order):
                place = 0


def main():
    loader = DataLoader(
        Texts(),
        batch_sampler=ByLength(Texts.lengths, 10),
        collate_fn=lambda texts: torch.nn.utils.rnn.pad_sequence(texts, batch_first=True),
        num_workers=2,
    )
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=1e-4)
    for texts in loader:
        optimizer.zero_grad()
        (texts * weight).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
