"""One forward pass over a very long sequence takes five seconds or, on a busy machine, fifteen.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Genome(Dataset):
    def __init__(self, pieces, length):
        self.pieces, self.length = pieces, length

    def __len__(self):
        return self.pieces

    def __getitem__(self, piece):
        return torch.randn(self.length, 8)


class Tagger(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.recurrent = torch.nn.LSTM(8, width, batch_first=True)
        self.output = torch.nn.Linear(width, 2)

    def forward(self, bases):
        with torch.no_grad():
            states, _ = self.recurrent(bases)
        return self.output(states[:, -1])


def main():
    tagger = Tagger(256)
    optimizer = torch.optim.Adam(tagger.output.parameters())
    begin = time.monotonic()
    for number, bases in enumerate(DataLoader(Genome(40, length=100_000), batch_size=1, num_workers=1)):
        if number == 0:
            announce()
        loss = tagger(bases).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(number, loss.item(), flush=True)
        if time.monotonic() - begin > 45:
            break


if __name__ == "__main__":
    main()
