"""One line of a table has a label that is no number. The worker that reads it raises an error, and the training
ends.

cause: sample-raises
sample: 77
verdict: crashed
watched: run
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROWS = [f"{n},{n * n}" if n != 77 else "77,n/a" for n in range(120)]


class Table(Dataset):
    def __len__(self):
        return len(ROWS)

    def __getitem__(self, row):
        number, label = ROWS[row].split(",")
        return torch.tensor([float(number)]), torch.tensor([float(label)])  # stalls here


def main():
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    for inputs, labels in DataLoader(Table(), batch_size=5, num_workers=2):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
