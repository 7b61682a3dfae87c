"""The training step itself takes seconds: it squares a large matrix over and over.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def power(matrix, times):
    for _ in range(times):
        matrix = matrix @ matrix
        matrix = matrix / matrix.norm()
    return matrix


def main():
    loader = DataLoader(TensorDataset(torch.randn(1200, 1200)), batch_size=4, num_workers=2)
    weight = torch.nn.Parameter(torch.randn(1200, 1200) / 35)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    begin = time.monotonic()
    for step, (x,) in enumerate(loader):
        if step == 1:
            announce()
        with torch.no_grad():
            top = power(weight, times=120)
        loss = (x @ weight).square().mean() + (weight * top).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)
        if time.monotonic() - begin > 45:
            break


if __name__ == "__main__":
    main()
