"""The start method is set at the top of the script. Workers import the script, and set it again.

cause: start-method-set-at-import
verdict: crashed
watched: run
"""

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset

mp.set_start_method("spawn")  # stalls here


def main():
    rows = TensorDataset(torch.randn(60, 3))
    for (batch,) in DataLoader(rows, batch_size=6, num_workers=2):
        assert batch.shape == (6, 3)


if __name__ == "__main__":
    main()
