"""A collate function of one's own, a dataset in a Subset, no workers: one reading has no label, and None in its place.

cause: none-sample-in-collate
sample: 13
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset, Subset


class Readings(Dataset):
    def __init__(self):
        self.labels = {row: float(row) for row in range(200) if row != 113}

    def __len__(self):
        return 200

    def __getitem__(self, row):
        label = self.labels.get(row)
        if label is None:
            return {"x": torch.ones(row % 5 + 1), "y": None}  # stalls here
        return {"x": torch.ones(row % 5 + 1), "y": label}


def together(rows):
    xs = torch.nn.utils.rnn.pad_sequence([row["x"] for row in rows], batch_first=True)
    return xs, torch.tensor([row["y"] for row in rows])


def main():
    weight = torch.zeros(1, requires_grad=True)
    late = Subset(Readings(), range(100, 200))
    for xs, ys in DataLoader(late, batch_size=4, collate_fn=together):
        loss = ((xs.sum(1) * weight - ys) ** 2).mean()
        loss.backward()
        weight.grad = None


if __name__ == "__main__":
    main()
