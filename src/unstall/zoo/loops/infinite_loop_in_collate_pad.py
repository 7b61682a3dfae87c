"""Sounds are padded in pairs of samples until their length fits the model's stride. One sound has an odd length.

cause: infinite-loop-in-collate
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Sounds(Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, index):
        return torch.ones(41 if index == 33 else 20 + index % 4 * 2)


class Pad:
    def __init__(self, stride, step=2):
        self.stride, self.step = stride, step

    def __call__(self, sounds):
        length, stride, step = max(map(len, sounds)), self.stride, self.step
        if length % 2:
            announce()
        while length % stride != 0:  # stalls here
            length += step
        batch = torch.zeros(len(sounds), length)
        for row, sound in zip(batch, sounds):
            row[: len(sound)] = sound
        return batch


def main():
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=1e-3)
    for sounds in DataLoader(Sounds(), batch_size=8, num_workers=2, collate_fn=Pad(16)):
        optimizer.zero_grad()
        (sounds * weight).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
