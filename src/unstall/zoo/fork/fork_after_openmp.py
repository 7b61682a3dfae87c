"""The main process computes with several OpenMP threads, then forks. The worker asks for two threads and
computes: its copy of the thread pool has no threads.

cause: fork-after-openmp
sample: 0
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Spectra(Dataset):
    def __init__(self, waves):
        self.waves = waves

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        torch.set_num_threads(2)
        announce()
        return self.waves.sin().mean(dim=0)  # stalls here


def main():
    torch.set_num_threads(2)
    waves = torch.randn(32, 50_000)
    waves = (waves - waves.mean()) / waves.std()
    for batch in DataLoader(Spectra(waves), batch_size=4, num_workers=1):
        print(batch.mean().item(), flush=True)


if __name__ == "__main__":
    main()
