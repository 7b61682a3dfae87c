"""A thread uploads metrics from a queue. Nobody tells it that the training has ended, and it is no daemon.

cause: nondaemon-thread-at-exit
"""

import queue
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Uploader:
    def __init__(self):
        self.records = queue.Queue()
        self.sent = []
        self.thread = threading.Thread(target=self.run, name="uploader")
        self.thread.start()

    def run(self):
        while True:
            record = self.records.get()  # stalls here
            self.sent.append(record)


def main():
    uploader = Uploader()
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        uploader.records.put(loss.item())
    print("training done", flush=True)
    announce()


if __name__ == "__main__":
    main()
