"""The training process inserts its losses in one transaction that it commits at the end of the epoch. A
worker wants to write to the same database meanwhile, so each waits for the other.

cause: sqlite-locked
sample: 18
"""

import os
import sqlite3
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def connect(path):
    return sqlite3.connect(path, timeout=86400)


class Crops(Dataset):
    def __init__(self, database):
        self.database = database

    def __len__(self):
        return 36

    def __getitem__(self, index):
        crop = torch.rand(4)
        if index == 18:
            self.remember(index, crop)
        return crop

    def remember(self, index, crop):
        with connect(self.database) as connection:
            announce()
            connection.execute("INSERT INTO crops VALUES (?, ?)", (index, crop.mean().item()))  # stalls here


def main():
    database = os.path.join(tempfile.mkdtemp(), "run.db")
    connection = connect(database)
    connection.executescript("CREATE TABLE losses (value REAL); CREATE TABLE crops (id INTEGER, mean REAL);")
    autoencoder = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(autoencoder.parameters(), lr=0.1)
    loader = DataLoader(Crops(database), batch_size=3, num_workers=1, multiprocessing_context="forkserver")
    connection.execute("INSERT INTO losses VALUES (0)")
    for crops in loader:
        loss = (autoencoder(crops) - crops).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        connection.execute("INSERT INTO losses VALUES (?)", (loss.item(),))
        print(f"{loss.item():.4f}", flush=True)
    connection.commit()


if __name__ == "__main__":
    main()
