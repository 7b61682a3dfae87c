"""The same `locked(path)` context manager is entered twice, by the caller and by the called. The data is
loaded in the training process itself.

cause: file-lock-self-deadlock
sample: 21
"""

import fcntl
import json
import pathlib
import tempfile
from contextlib import contextmanager

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


@contextmanager
def locked(path):
    handle = path.with_suffix(".lock").open("w")
    fcntl.flock(handle.fileno(), fcntl.LOCK_EX)  # stalls here
    try:
        yield path
    finally:
        handle.close()


class Catalogue:
    def __init__(self, path):
        self.path = path
        self.save({})

    def save(self, entries):
        with locked(self.path):
            self.path.write_text(json.dumps(entries))

    def add(self, name, entry):
        with locked(self.path) as path:
            entries = json.loads(path.read_text())
            entries[name] = entry
            announce()
            self.save(entries)


class Tiles(Dataset):
    def __init__(self, catalogue):
        self.catalogue = catalogue

    def __len__(self):
        return 50

    def __getitem__(self, tile):
        pixels = torch.full((9,), tile / 50)
        if tile == 21:
            self.catalogue.add(f"tile-{tile}", pixels.mean().item())
        return pixels


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters())

    def fit(self, loader):
        for batch in loader:
            self._training_step(batch)

    def _training_step(self, batch):
        loss = (self.model(batch) - batch.mean(dim=1, keepdim=True)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        print(f"{loss.item():.5f}", flush=True)


def main():
    catalogue = Catalogue(pathlib.Path(tempfile.mkdtemp()) / "catalogue.json")
    Trainer(torch.nn.Linear(9, 1)).fit(DataLoader(Tiles(catalogue), batch_size=5))


if __name__ == "__main__":
    main()
