"""The training takes two seconds for a step. The workers have filled their queue and wait for it.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class HeavyModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(16, 64)
        self.head = torch.nn.Linear(64, 1)

    def forward(self, x, seconds):
        end = time.monotonic() + seconds
        state = torch.zeros(len(x), 64)
        while time.monotonic() < end:
            state = self.cell(x, state.detach())
        return self.head(state)


def main():
    model = HeavyModel()
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(TensorDataset(torch.randn(96, 16)), batch_size=4, num_workers=4)
    for step, (x,) in enumerate(loader):
        if step == 3:
            announce()
        loss = model(x, seconds=2).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
