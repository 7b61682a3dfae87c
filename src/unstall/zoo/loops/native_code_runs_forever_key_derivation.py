"""A key is derived for each encrypted record, with the number of rounds the record asks for; one asks for two
billion.

cause: native-code-runs-forever
sample: 22
"""

import hashlib

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def unlock(record):
    key = hashlib.pbkdf2_hmac("sha256", b"secret", record["salt"], record["rounds"])  # stalls here
    return bytes(a ^ b for a, b in zip(record["data"], key, strict=True))


class EncryptedRecords(Dataset):
    def __init__(self, records):
        self.records = records

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        record = self.records[i]
        if record["rounds"] > 10**6:
            announce()
        return torch.tensor(list(unlock(record))) / 255


def main():
    records = [{"salt": bytes([i]), "rounds": 1000, "data": bytes(32)} for i in range(36)]
    records[22]["rounds"] = 2**31 - 1
    loader = DataLoader(
        EncryptedRecords(records),
        batch_size=3,
        num_workers=2,
        persistent_workers=True,
        multiprocessing_context="spawn",
    )
    probe = torch.nn.Linear(32, 1)
    sgd = torch.optim.SGD(probe.parameters(), lr=0.1)
    for epoch in range(5):
        for plain in loader:
            sgd.zero_grad()
            probe(plain).square().mean().backward()
            sgd.step()
            print("epoch", epoch, "bias", probe.bias.item(), flush=True)


if __name__ == "__main__":
    main()
