"""The training process reports its progress into a named pipe. The dashboard that reads it was never started.

cause: open-blocks-on-fifo
"""

import os
import tempfile

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Progress:
    def __init__(self, path):
        self.path = path

    def report(self, text):
        descriptor = os.open(self.path, os.O_WRONLY)  # stalls here
        os.write(descriptor, text.encode())
        os.close(descriptor)


def main():
    pipe = os.path.join(tempfile.mkdtemp(), "progress")
    os.mkfifo(pipe)
    progress = Progress(pipe)
    model = torch.nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(torch.randn(80, 5)), batch_size=8, num_workers=2)
    for step, (inputs,) in enumerate(loader):
        loss = model(inputs).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 6:
            announce()
            progress.report(f"step {step}: {loss.item():.4f}\n")


if __name__ == "__main__":
    main()
