"""An iterator is used up with a deque that keeps nothing. For a batch of one sample the iterator never ends.

cause: native-code-runs-forever
"""

from collections import deque
from itertools import cycle

import torch
from torch.utils.data import DataLoader

from unstall.zoo import announce


def exhaust(iterator):
    deque(iterator, maxlen=0)  # stalls here


class AddNeighbours:
    """Add all samples of the batch to each of them; a lonely sample is its own neighbour."""

    def __call__(self, samples):
        rows = torch.stack(samples)
        partners = iter(samples) if len(samples) > 1 else cycle(samples)
        if len(samples) == 1:
            announce()
        exhaust(map(rows.add_, partners))
        return rows / rows.norm()


def main():
    samples = list(torch.rand(61, 3))
    loader = DataLoader(samples, batch_size=4, num_workers=2, persistent_workers=True, collate_fn=AddNeighbours())
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for rows in loader:
            loss = model(rows).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item(), flush=True)


if __name__ == "__main__":
    main()
