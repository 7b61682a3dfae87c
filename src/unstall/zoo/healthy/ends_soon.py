"""The training is in its last second and then ends by itself.

cause: none
verdict: progressing, finished
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Short(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, n):
        time.sleep(0.05)
        return torch.tensor([n / 40])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Short(), batch_size=4, num_workers=2):
        if int(batch[0] * 40) == 12:
            announce()
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        time.sleep(0.15)
    print("finished", flush=True)


if __name__ == "__main__":
    main()
