"""Whether an offset lies on a grid is asked with `in itertools.count(...)`, which only ends when the answer
is yes.

cause: native-code-runs-forever
sample: 20
"""

import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

HOP = 160


class Frames(Dataset):
    def __init__(self):
        self.offsets = [HOP * number for number in range(64)]
        self.offsets[20] += 1

    def __len__(self):
        return len(self.offsets)

    def __getitem__(self, index):
        offset = self.offsets[index]
        if offset % HOP:
            announce()
        aligned = offset in itertools.count(0, HOP)  # stalls here
        return torch.tensor([offset / 10_000, float(aligned)])


def main():
    loader = DataLoader(Frames(), batch_size=4, num_workers=2)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        loss = nn.functional.mse_loss(model(batch[:, :1]), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
