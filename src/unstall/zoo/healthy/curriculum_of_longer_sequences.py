"""Sequences get longer as the training goes on, so steps take longer and need more memory; losses are kept as numbers.

cause: none
verdict: progressing, slow, finished
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return torch.rand(400, 24)


def main():
    torch.set_num_threads(1)
    cell = torch.nn.GRUCell(24, 96)
    optimizer = torch.optim.Adam(cell.parameters())
    losses, outputs = [], []
    begin = time.monotonic()
    for step, words in enumerate(DataLoader(Words(), batch_size=64, num_workers=1)):
        hidden = torch.zeros(64, 96)
        for place in range(min(400, 4 + step // 2)):
            hidden = cell(words[:, place], hidden)
        loss = hidden.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        outputs.append(hidden.detach().repeat(1, 4))
        if time.monotonic() - begin > 30:
            break


if __name__ == "__main__":
    main()
