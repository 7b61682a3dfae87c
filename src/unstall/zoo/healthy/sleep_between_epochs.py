"""The main process sleeps 20 seconds after each epoch, to give the disk time to write the checkpoint.

cause: none
verdict: progressing, slow
"""

import io
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def settle(model):
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    time.sleep(20)
    return buffer.tell()


def main():
    x = torch.linspace(0, 1, 200).unsqueeze(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for inputs, targets in DataLoader(TensorDataset(x, 3 * x), batch_size=20, num_workers=2):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()
        if epoch == 0:
            announce()
        print("epoch", epoch, "saved", settle(model), "bytes", flush=True)


if __name__ == "__main__":
    main()
