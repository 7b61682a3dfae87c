"""A small training without workers at full speed, for 40 seconds.

cause: none
verdict: progressing
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def main():
    loader = DataLoader(TensorDataset(torch.randn(512, 16), torch.randn(512, 1)), batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    begin = time.monotonic()
    for epoch in range(1_000_000):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch == 3:
            announce()
        if time.monotonic() - begin > 40:
            break
    print("loss", loss.item())


if __name__ == "__main__":
    main()
