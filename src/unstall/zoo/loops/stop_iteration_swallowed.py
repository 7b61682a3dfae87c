"""A damaged batch is skipped with a broad except. It catches the end of the epoch, too.

cause: stop-iteration-swallowed
watched: run
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    x = torch.rand(320, 4)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(TensorDataset(x), batch_size=32))
    step = 0
    while step < 100:
        try:
            (rows,) = next(batches)  # stalls here
        except Exception:
            continue
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
        step += 1


if __name__ == "__main__":
    main()
