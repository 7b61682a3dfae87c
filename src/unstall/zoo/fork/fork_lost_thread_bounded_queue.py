"""Statistics go through a bounded queue to a writer thread of the main process. In the worker nobody empties
its copy of the queue, and the put after the last free place waits for ever.

cause: fork-lost-thread
sample: 12
"""

import queue
import tempfile
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class StatisticsWriter:
    def __init__(self, path, places):
        self.path = path
        self.pending = queue.Queue(maxsize=places)
        threading.Thread(target=self.drain, name="statistics", daemon=True).start()

    def drain(self):
        with open(self.path, "w") as file:
            while True:
                file.write(f"{self.pending.get()}\n")

    def add(self, line):
        if self.pending.full():
            announce()
        self.pending.put(line)  # stalls here


class Augmented(Dataset):
    def __init__(self, writer):
        self.writer = writer

    def __len__(self):
        return 60

    def __getitem__(self, index):
        angle = torch.rand(()) * 90
        self.writer.add(f"sample {index}: {angle.item():.1f} degrees")
        return torch.stack([angle.cos(), angle.sin()])


def main():
    writer = StatisticsWriter(tempfile.mkdtemp() + "/angles.txt", places=12)
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.RMSprop(layer.parameters())
    for step, batch in enumerate(DataLoader(Augmented(writer), batch_size=3, num_workers=1)):
        optimizer.zero_grad()
        loss = layer(batch).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("step", step, "loss", loss.item(), flush=True)


if __name__ == "__main__":
    main()
