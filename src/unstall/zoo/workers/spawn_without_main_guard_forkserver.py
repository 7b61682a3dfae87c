"""Functions, but no main guard: the last line runs in the workers, too, which the fork server starts.

cause: spawn-without-main-guard
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return torch.tensor(index**2)


def main():
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, multiprocessing_context="forkserver")
    batches = iter(loader)  # stalls here
    print(sum(int(batch.sum()) for batch in batches))


main()
