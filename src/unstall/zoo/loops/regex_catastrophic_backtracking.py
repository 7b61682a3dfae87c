"""A pattern with a repetition inside a repetition meets a long text that does not match at its very end.

cause: regex-catastrophic-backtracking
sample: 20
"""

import re

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Lines(Dataset):
    def __init__(self):
        self.lines = ["a" * (5 + number % 9) for number in range(64)]
        self.lines[20] = "a" * 60 + "!"

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        line = self.lines[index]
        if line.endswith("!"):
            announce()
        match = re.match(r"(a+)+$", line)  # stalls here
        return torch.tensor([len(line), match is not None], dtype=torch.float32)


def main():
    loader = DataLoader(Lines(), batch_size=4, num_workers=2)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for step, batch in enumerate(loader):
        loss = nn.functional.mse_loss(model(batch[:, :1]), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
