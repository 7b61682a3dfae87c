"""Every sample is a picture that is scaled, turned and equalised with numpy, by the training process itself.

cause: input-bound-no-workers
verdict: slow
watched: run
"""

import numpy
import torch
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self, count):
        self.scans = numpy.random.default_rng(0).integers(0, 255, (50, 256, 256)).astype(numpy.uint8)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        scan = equalised(self.scans[index % 50])
        return torch.from_numpy(scan[::8, ::8].astype(numpy.float32)).flatten(), index % 3


def equalised(scan):
    ranks = numpy.argsort(numpy.argsort(scan.ravel(), kind="stable"), kind="stable")  # stalls here
    return ranks.reshape(scan.shape) / scan.size


def main():
    torch.set_num_threads(1)
    model = torch.nn.Linear(32 * 32, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for scans, labels in DataLoader(Scans(100_000), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(scans), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
