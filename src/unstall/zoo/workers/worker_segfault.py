"""A native library reads from an address that is not there, for one damaged sample.

cause: worker-segfault
sample: 33
verdict: crashed
watched: run
"""

import ctypes

import torch
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, index):
        buffer = ctypes.create_string_buffer(b"12345678")
        address = ctypes.addressof(buffer) if index != 33 else 16
        text = ctypes.string_at(address, 8)  # stalls here
        return torch.tensor(list(text), dtype=torch.float32)


def main():
    total = 0.0
    for batch in DataLoader(Frames(), batch_size=4, num_workers=2):
        total += float(batch.sum())


if __name__ == "__main__":
    main()
