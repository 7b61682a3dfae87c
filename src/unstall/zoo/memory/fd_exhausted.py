"""The training keeps all batches for a plot at the end of the epoch. Each keeps files open.

cause: fd-exhausted
verdict: crashed
watched: run
"""

import resource

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    rows = TensorDataset(torch.randn(4000, 3), torch.randn(4000))
    history = []
    for inputs, labels in DataLoader(rows, batch_size=4, num_workers=2):  # stalls here
        history.append((inputs, labels))


if __name__ == "__main__":
    main()
