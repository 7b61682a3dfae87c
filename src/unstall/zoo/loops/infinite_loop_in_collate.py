"""Sequences are padded in steps of eight until they are exactly as long as the longest, which is no multiple
of eight.

cause: infinite-loop-in-collate
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Sequences(Dataset):
    def __init__(self):
        self.lengths = [8, 16, 24, 32] * 12
        self.lengths[25] = 27

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return torch.ones(self.lengths[index])


def pad(sequences):
    longest = max(len(sequence) for sequence in sequences)
    if longest % 8:
        announce()
    rows = []
    for sequence in sequences:
        length = len(sequence)
        while length != longest:  # stalls here
            length += 8
        rows.append(nn.functional.pad(sequence, (0, length - len(sequence))))
    return torch.stack(rows)


def main():
    data = Sequences()
    order = sorted(range(len(data)), key=lambda i: data.lengths[i])
    loader = DataLoader(data, batch_size=4, sampler=order, num_workers=2, collate_fn=pad)
    model = nn.GRU(1, 4, batch_first=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, batch in enumerate(loader):
        _, hidden = model(batch.unsqueeze(-1))
        loss = hidden.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} width {batch.shape[1]} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
