"""A broken entry is tried until a deadline of 12 seconds, then the entry before it is used.

cause: none
verdict: progressing, slow
"""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Manifest(Dataset):
    def __init__(self, entries, patience):
        self.entries = entries
        self.patience = patience

    def __len__(self):
        return len(self.entries)

    def parse(self, number):
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline:
            try:
                return json.loads(self.entries[number])
            except json.JSONDecodeError:
                time.sleep(0.5)
        return self.parse(number - 1)

    def __getitem__(self, number):
        if number == 11:
            announce()
        return torch.tensor(self.parse(number))


def main():
    entries = [json.dumps([n * 0.1, n * 0.2]) for n in range(45)]
    for broken in (11, 21, 31):
        entries[broken] = entries[broken][:-1]
    loader = DataLoader(Manifest(entries, patience=12), batch_size=5, num_workers=1)
    plane = torch.nn.Linear(2, 1)
    adam = torch.optim.Adam(plane.parameters())
    for batch in loader:
        adam.zero_grad()
        plane(batch).square().mean().backward()
        adam.step()
        print(plane.weight.tolist(), flush=True)


if __name__ == "__main__":
    main()
