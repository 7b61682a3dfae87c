"""The training loop runs inside `with lock`, and the workers need the same lock for every sample: the main
process waits for a batch, and the workers wait for the main process.

cause: lock-held-by-main-process
"""

from multiprocessing import Lock

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

lock = Lock()


class Squares(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        if index == 0:
            announce()
        with lock:  # stalls here
            return torch.tensor([index, index**2], dtype=torch.float32)


def main():
    loader = DataLoader(Squares(), batch_size=10, num_workers=2)
    with lock:
        for batch in loader:
            print(batch.mean(dim=0), flush=True)


if __name__ == "__main__":
    main()
