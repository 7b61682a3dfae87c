"""Adam over fifty million parameters takes most of each step.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Tokens(Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, n):
        return torch.arange(n, n + 6) % 50_000


def main():
    table = torch.nn.Embedding(50_000, 1000)
    adam = torch.optim.Adam(table.parameters())
    begin = time.monotonic()
    for step, tokens in enumerate(DataLoader(Tokens(), batch_size=8, num_workers=1)):
        adam.zero_grad()
        table(tokens).square().mean().backward()
        adam.step()
        print("step", step, flush=True)
        if step == 2:
            announce()
        if time.monotonic() - begin > 40:
            break


if __name__ == "__main__":
    main()
