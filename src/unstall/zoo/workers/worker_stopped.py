"""A worker is stopped with SIGSTOP and nobody lets it go on.

cause: worker-stopped
sample: 20
"""

import os
import signal

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Numbers(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 20:
            announce()
            os.kill(os.getpid(), signal.SIGSTOP)  # stalls here
        return torch.tensor([index / 64])


def main():
    loader = DataLoader(Numbers(), batch_size=4, num_workers=2)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
