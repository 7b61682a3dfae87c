"""A zip archive is opened before the workers are started. All of them read through one handle.

cause: handle-shared-across-fork
verdict: crashed
watched: run
"""

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


def main():
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for number in range(200):
                archive.writestr(f"{number}.bin", bytes([number]) * 50_000)
        for _ in range(20):
            for batch in DataLoader(Zipped(file.name, 4000), batch_size=20, num_workers=3):
                assert len(batch) == 20


if __name__ == "__main__":
    main()
