"""After each epoch the main process fits a tree by hand for ten seconds.

Its persistent workers are idle meanwhile.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Cells(Dataset):
    def __len__(self):
        return 300

    def __getitem__(self, n):
        return torch.tensor([n % 7, n % 11, n % 13]).float()


def best_split(rows):
    best = (float("inf"), None)
    for column in range(3):
        for row in rows:
            left = [r for r in rows if r[column] < row[column]]
            right = [r for r in rows if r[column] >= row[column]]
            best = min(best, (abs(len(left) - len(right)) + column / 10, row[column]))
    return best


def fit_stump(rows, seconds):
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        split = best_split(rows[:150])
    return split


def main():
    loader = DataLoader(
        Cells(), batch_size=15, num_workers=2, persistent_workers=True, multiprocessing_context="forkserver"
    )
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for epoch in range(4):
        rows = []
        for batch in loader:
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            rows += batch.tolist()
        if epoch == 0:
            announce()
        print("epoch", epoch, "split", fit_stump(rows, seconds=10), flush=True)


if __name__ == "__main__":
    main()
