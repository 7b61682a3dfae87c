"""The training has seen enough and leaves its loop; a worker is still busy with a sample that takes for ever.

cause: shutdown-waits-for-stuck-worker
verdict: slow, stalled
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Recordings(Dataset):
    def __init__(self, lengths):
        self.lengths = lengths

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        time.sleep(self.lengths[index])  # stalls here
        return torch.full((4,), float(index))


def main():
    model = nn.Linear(4, 1)
    data = Recordings([0.0] * 24 + [3600.0] + [0.0] * 39)
    for epoch in range(50):
        for step, batch in enumerate(DataLoader(data, batch_size=4, num_workers=2)):
            loss = model(batch).square().mean()
            loss.backward()
            if step == 5:
                announce()
                break
        print("epoch", epoch, flush=True)


if __name__ == "__main__":
    main()
