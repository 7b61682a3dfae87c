"""Every sample takes 0.3 s, because the storage is far away.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Archive(Dataset):
    def __len__(self):
        return 280

    def __getitem__(self, index):
        if index == 6:
            announce()
        time.sleep(0.3)
        return torch.tensor([float(index)])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for step, batch in enumerate(DataLoader(Archive(), batch_size=4, num_workers=2)):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        print("step", step, flush=True)


if __name__ == "__main__":
    main()
