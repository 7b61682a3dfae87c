"""One call into C derives a key for some seconds, and comes back.

cause: none
verdict: progressing, slow, finished
"""

import hashlib

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class SealedRecords(Dataset):
    def __init__(self, rounds):
        self.rounds = rounds

    def __len__(self):
        return len(self.rounds)

    def __getitem__(self, number):
        if self.rounds[number] > 10**6:
            announce()
        key = hashlib.pbkdf2_hmac("sha512", b"passphrase", str(number).encode(), self.rounds[number])
        return torch.frombuffer(bytearray(key), dtype=torch.uint8).float()


def main():
    loader = DataLoader(SealedRecords([10, 10, 5_000_000, 10]), batch_size=1, num_workers=1)
    layer = torch.nn.Linear(64, 1)
    descent = torch.optim.SGD(layer.parameters(), lr=1e-6)
    for keys in loader:
        descent.zero_grad()
        layer(keys).sum().backward()
        descent.step()
        print("record", keys[0, 0].item(), flush=True)


if __name__ == "__main__":
    main()
