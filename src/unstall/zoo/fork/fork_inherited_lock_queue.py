"""A monitoring thread copies the content of a `queue.Queue` under the queue's mutex while the validation
workers are forked. In the workers, `put` waits for that mutex.

cause: fork-inherited-lock
"""

import queue
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from unstall.zoo import announce

events = queue.Queue()


def monitor(validating, copying):
    while True:
        validating.wait()
        with events.mutex:
            copying.set()
            for _ in list(events.queue):
                time.sleep(0.05)
        validating.clear()


class Validation(Dataset):
    def __init__(self, targets):
        self.targets = targets

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        if index == 0:
            announce()
        events.put(("validated", index))  # stalls here
        return self.targets[index]


def main():
    validating, copying = threading.Event(), threading.Event()
    threading.Thread(target=monitor, args=(validating, copying), daemon=True).start()
    bias = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([bias], lr=0.1)
    for step, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(200)), batch_size=5, num_workers=2)):
        loss = (x - bias).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        events.put(("loss", loss.item()))
    print("trained for", step + 1, "steps", flush=True)
    validating.set()
    copying.wait()
    for targets in DataLoader(Validation(torch.randn(40)), batch_size=4, num_workers=2):
        print((targets - bias).abs().mean().item(), flush=True)


if __name__ == "__main__":
    main()
