"""A bad pattern takes about half a second for each text, and then says no.

cause: none
verdict: progressing, slow
"""

import re

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

SHOUT = re.compile(r"(A+)+!")


class Shouts(Dataset):
    def __init__(self, number, length):
        self.texts = ["A" * length + "?" for _ in range(number)]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, k):
        if k == 3:
            announce()
        loud = SHOUT.match(self.texts[k]) is not None
        return torch.tensor([len(self.texts[k]), loud]).float()


def main():
    loader = DataLoader(Shouts(number=170, length=24), batch_size=2, num_workers=2)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for batch in loader:
        optimizer.zero_grad()
        torch.nn.functional.l1_loss(model(batch[:, :1]), batch[:, 1:]).backward()
        optimizer.step()
        print(model.bias.item(), flush=True)


if __name__ == "__main__":
    main()
