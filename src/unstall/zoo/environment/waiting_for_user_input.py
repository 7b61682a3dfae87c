"""After the first epoch the script asks whether it is to go on, and nobody sits in front of it.

cause: waiting-for-user-input
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def main():
    loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, num_workers=2)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        for step, (batch,) in enumerate(loader):
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} step {step} loss {loss.item():.3f}", flush=True)
        announce()
        answer = input("go on? [y/n] ")  # stalls here
        if answer == "n":
            break


if __name__ == "__main__":
    main()
