"""Each sample is decomposed with numpy in the training process itself, which takes a while.

cause: none
verdict: progressing, slow
"""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Spectra(Dataset):
    def __init__(self, number, size):
        self.number = number
        self.size = size

    def __len__(self):
        return self.number

    def matrix(self, key):
        return np.random.default_rng(key).normal(size=(self.size, self.size))

    def __getitem__(self, key):
        if key == 3:
            announce()
        values = np.linalg.svd(self.matrix(key), compute_uv=False)
        return torch.from_numpy(values[:10]).float()


def main():
    whiten = torch.nn.Linear(10, 10)
    adam = torch.optim.Adam(whiten.parameters())
    for values in DataLoader(Spectra(150, size=700), batch_size=3):
        adam.zero_grad()
        (whiten(values) - 1).square().mean().backward()
        adam.step()
        print("offset", whiten.bias.mean().item(), flush=True)


if __name__ == "__main__":
    main()
