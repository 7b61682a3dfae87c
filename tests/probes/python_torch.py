"""A training whose worker stands still in sample 21; tests/probes/test_python_torch.py reads it. Prints "ready"."""

import threading

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        if index == 21:
            print("ready", flush=True)
            threading.Event().wait()
        return torch.zeros(3) + index


def main():
    for _ in DataLoader(Samples(), batch_size=4, num_workers=2):
        pass


main()
