"""Without workers and without automatic batches: one key is missing, deep in what `__getitem__` calls.

cause: sample-raises
sample: 9
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset

LABELS = {f"img{n}": n % 3 for n in range(30) if n != 9}


def label_of(name):
    return LABELS[name]  # stalls here


class Named(Dataset):
    def __len__(self):
        return 30

    def __getitem__(self, index):
        return torch.rand(2), label_of(f"img{index}")


def main():
    model = torch.nn.Linear(2, 3)
    for x, label in DataLoader(Named(), batch_size=None):
        torch.nn.functional.cross_entropy(model(x)[None], torch.tensor([label])).backward()


if __name__ == "__main__":
    main()
