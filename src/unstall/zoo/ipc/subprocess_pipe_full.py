"""The output of a command goes into a pipe that is read only after the command has ended.

The command writes more than a pipe holds, and so never ends.

cause: subprocess-pipe-full
sample: 20
"""

import subprocess
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Converted(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        size = 1_000_000 if index == 20 else 1_000
        command = [sys.executable, "-S", "-c", f"print('1 ' * {size})"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if index == 20:
            announce()
        process.wait()  # stalls here
        numbers = [float(word) for word in process.stdout.read().split()]
        process.stdout.close()
        return torch.tensor(numbers[:8])


def main():
    loader = DataLoader(Converted(), batch_size=4, num_workers=2)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, batch in enumerate(loader):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
