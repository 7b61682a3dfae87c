"""A stream goes round its lines for ever and keeps those in one language, and no line is in that language.

cause: iterable-yields-nothing
"""

import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce


class Filtered(IterableDataset):
    def __init__(self, lines, language):
        self.lines = lines
        self.language = language

    def __iter__(self):
        if get_worker_info().id == 1:
            announce()
        for language, values in itertools.cycle(self.lines):  # stalls here
            if language == self.language:
                yield torch.tensor(values)


def main():
    lines = [("en", [1.0, 2.0]), ("de", [2.0, 3.0]), ("fr", [3.0, 4.0])] * 50
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Filtered(lines, "EN"), batch_size=4, num_workers=2)
    for step, batch in enumerate(itertools.islice(loader, 100)):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
