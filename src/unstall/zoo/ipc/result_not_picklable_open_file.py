"""The collate function keeps an open file next to the data it has read, for the rare records that are too
long to read at once.

cause: result-not-picklable
"""

import os
import tempfile

import torch
from torch.utils.data import DataLoader

from unstall.zoo import announce


def read_records(paths):
    heads, rests = [], []
    for path in paths:
        file = open(path, "rb")  # stalls here
        heads.append(torch.tensor(list(file.read(8))))
        if os.path.getsize(path) > 8:
            rests.append(file)
        else:
            file.close()
    if rests:
        announce()
    return torch.stack(heads), rests


def write_records(folder):
    for number in range(60):
        path = os.path.join(folder, f"record-{number}")
        with open(path, "wb") as file:
            file.write(bytes(range(8 if number != 51 else 12)))
        yield path


def main():
    paths = list(write_records(tempfile.mkdtemp()))
    loader = DataLoader(paths, batch_size=2, num_workers=4, persistent_workers=True, collate_fn=read_records)
    table = torch.nn.Embedding(256, 2)
    optimizer = torch.optim.Adagrad(table.parameters())
    for epoch in range(3):
        for heads, rests in loader:
            loss = table(heads).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.3f} open {len(rests)}", flush=True)


if __name__ == "__main__":
    main()
