"""The dataset skips bad files by asking for the next one. A whole folder of them is missing.

cause: recursive-skip-exhausts-stack
sample: 256
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __len__(self):
        return 5000

    def __getitem__(self, index):
        try:
            return self.read(index)
        except OSError:
            return self[(index + 1) % len(self)]  # stalls here

    def read(self, index):
        if 256 <= index < 4000:
            with open(f"/nowhere/clip-{index}.bin", "rb") as file:
                return torch.frombuffer(file.read(), dtype=torch.uint8)
        return torch.zeros(16)


def main():
    seen = 0
    for batch in DataLoader(Clips(), batch_size=16, num_workers=2):
        seen += len(batch)


if __name__ == "__main__":
    main()
