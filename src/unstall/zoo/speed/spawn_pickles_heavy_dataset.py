"""The dataset keeps the paths of two million pictures in a list. Spawned workers get a pickled copy each.

cause: spawn-pickles-heavy-dataset
verdict: slow
watched: run
"""

import pathlib

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, count):
        self.paths = [pathlib.PurePosixPath(f"/data/pictures/{number % 500}/{number}.jpg") for number in range(count)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.tensor([float(len(self.paths[index].name))])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Pictures(2_000_000), batch_size=64, num_workers=2, multiprocessing_context="spawn")
    for lengths in loader:  # stalls here
        optimizer.zero_grad()
        (model(lengths) - lengths).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
