"""A logging thread waits for an event most of the time; the training goes on beside it.

cause: none
verdict: progressing, slow
"""

import threading
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class MetricsWriter:
    def __init__(self):
        self.records = []
        self.flush_wanted = threading.Event()
        self.closed = False
        self.thread = threading.Thread(target=self.run, name="metrics", daemon=True)
        self.thread.start()

    def run(self):
        while not self.closed:
            self.flush_wanted.wait()
            self.flush_wanted.clear()
            print("written", len(self.records), "records", flush=True)

    def close(self):
        self.closed = True
        self.flush_wanted.set()
        self.thread.join()


def main():
    writer = MetricsWriter()
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(torch.randn(400, 3)), batch_size=2)
    for step, (x,) in enumerate(loader):
        if step == 5:
            announce()
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.2)
        writer.records.append(loss.item())
        if step % 60 == 0:
            writer.flush_wanted.set()
    writer.close()


if __name__ == "__main__":
    main()
