"""To see whether the model can learn at all, it is trained on the first batch alone. The loop is left on purpose.

cause: none
verdict: progressing, slow, finished
"""

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def main():
    x = torch.rand(400, 8)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(20_000):
        for rows, targets in loader:
            optimizer.zero_grad()
            (model(rows) - targets).square().mean().backward()
            optimizer.step()
            break
        if step == 100:
            announce()


if __name__ == "__main__":
    main()
