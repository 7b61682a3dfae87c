"""A zip archive is opened before the workers are started. All of them read through one handle.

cause: handle-shared-across-fork
verdict: crashed
watched: run
"""

import os
import tempfile
import zipfile

import torch
from torch.utils.data import DataLoader, Dataset


class Zipped(Dataset):
    def __init__(self, path, count):
        self.archive = zipfile.ZipFile(path)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        data = self.archive.read(f"{index % 200}.bin")  # stalls here
        return torch.tensor(len(data))


def make_archive():
    path = os.path.join(tempfile.gettempdir(), "unstall-zoo-handle-shared.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(200):
            archive.writestr(f"{number}.bin", bytes([number]) * 5_000)
    return path


def main():
    path = make_archive()
    for _ in range(20):
        for batch in DataLoader(Zipped(path, 4000), batch_size=20, num_workers=3):
            assert len(batch) == 20


if __name__ == "__main__":
    main()
