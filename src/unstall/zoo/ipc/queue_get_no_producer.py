"""A thread prepares 20 samples and ends; the dataset says it has 64 and waits for the rest.

cause: queue-get-no-producer
sample: 20
"""

import queue
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Prepared(Dataset):
    def __init__(self, prepared):
        self.prepared = prepared

    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 20:
            announce()
        return self.prepared.get()  # stalls here


def prepare(prepared, number):
    for value in range(number):
        prepared.put(torch.full((4,), value / number))


def main():
    prepared = queue.Queue()
    threading.Thread(target=prepare, args=(prepared, 20)).start()
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(DataLoader(Prepared(prepared), batch_size=4)):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
