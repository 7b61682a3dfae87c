"""The dataset opens a file for each sample, keeps it for later, and closes none.

cause: fd-exhausted
verdict: crashed
watched: run
"""

import resource

import torch
from torch.utils.data import DataLoader, Dataset


class Archive(Dataset):
    def __init__(self):
        self.opened = {}

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        self.opened[index] = open("/etc/hostname", "rb")  # noqa: SIM115  # stalls here
        return torch.tensor(len(self.opened[index].read()))


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    for batch in DataLoader(Archive(), batch_size=10, num_workers=1):
        assert len(batch) == 10


if __name__ == "__main__":
    main()
