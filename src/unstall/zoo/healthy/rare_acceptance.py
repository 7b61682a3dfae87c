"""A random crop must contain the small object; it takes about a thousand tries, and succeeds.

cause: none
verdict: progressing, slow
"""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Haystacks(Dataset):
    def __init__(self, number, side=2560, crop=80):
        self.number, self.side, self.crop = number, side, crop

    def __len__(self):
        return self.number

    def image(self, key):
        image = np.random.default_rng(key).random((self.side, self.side), dtype=np.float32)
        image[self.side // 2, self.side // 2] = 2.0
        return image

    def __getitem__(self, key):
        image = self.image(key)
        draw = np.random.default_rng(key + 1)
        if key == 7:
            announce()
        while True:
            top, left = draw.integers(0, self.side - self.crop, size=2)
            crop = np.sort(image[top : top + self.crop, left : left + self.crop], axis=None)
            if crop[-1] > 1:
                return torch.from_numpy(crop.reshape(self.crop, self.crop))


def main():
    loader = DataLoader(Haystacks(900), batch_size=6, num_workers=2, multiprocessing_context="spawn")
    detector = torch.nn.Linear(6400, 1)
    optimizer = torch.optim.SGD(detector.parameters(), lr=1e-3)
    for crops in loader:
        optimizer.zero_grad()
        (detector(crops.flatten(1)) - 1).square().mean().backward()
        optimizer.step()
        print("needles", len(crops), flush=True)


if __name__ == "__main__":
    main()
