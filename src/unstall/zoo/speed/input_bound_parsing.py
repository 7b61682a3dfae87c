"""The collate function parses numbers out of text, for every row of every batch, in every epoch.

cause: input-bound
verdict: slow
watched: run
"""

import csv
import io

import torch
from torch.utils.data import DataLoader, Dataset

COLUMNS = 300


class Rows(Dataset):
    def __init__(self, count):
        self.text = ",".join(f"{column * 0.37:.6f}" for column in range(COLUMNS))
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.text, float(index % 2)


class Parser:
    def __call__(self, rows):
        numbers = [self.parse(text) for text, _ in rows]
        return torch.tensor(numbers), torch.tensor([[label] for _, label in rows])

    def parse(self, text):
        [row] = csv.reader(io.StringIO(text))
        return [round(float(cell) * 10 ** (place % 3), 3) for place, cell in enumerate(row)]  # stalls here


class Trainer:
    def __init__(self, loader):
        self.loader = loader
        self.model = torch.nn.Linear(COLUMNS, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def fit(self, epochs):
        for _ in range(epochs):
            self.run_epoch()

    def run_epoch(self):
        for rows, labels in self.loader:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(self.model(rows), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    Trainer(DataLoader(Rows(200_000), batch_size=256, num_workers=1, collate_fn=Parser(), persistent_workers=True)).fit(
        5
    )
