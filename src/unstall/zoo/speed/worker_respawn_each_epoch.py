"""Sixteen samples an epoch, hundreds of epochs: each epoch starts three workers, and each of those opens a big table first.

cause: worker-respawn-each-epoch
verdict: slow
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Few(Dataset):
    def __init__(self):
        self.table = None

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.tensor([float(index)]), torch.tensor([index * 2.0])


def open_table(worker):
    torch.utils.data.get_worker_info().dataset.table = {number: str(number) for number in range(600_000)}


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Few(), batch_size=4, num_workers=3, worker_init_fn=open_table)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for _ in range(500):
        for x, y in loader:  # stalls here
            optimizer.zero_grad()
            (model(x) - y).square().mean().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
