"""The main process serves the labels to its own workers from a thread. For one key the handler waits for
something else, and the worker reads without a timeout.

cause: network-read-no-timeout
sample: 25
"""

import socket
import threading

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class LabelServer(threading.Thread):
    def __init__(self, labels):
        super().__init__(daemon=True, name="labels")
        self.labels = labels
        self.reviewed = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with connection, connection.makefile("rw") as stream:
            key = int(stream.readline())
            if self.labels[key] is None:
                self.reviewed.wait()
            stream.write(f"{self.labels[key]}\n")


class Reviewed(Dataset):
    def __init__(self, address, count):
        self.address = address
        self.count = count

    def __len__(self):
        return self.count

    def label_of(self, index):
        with socket.create_connection(self.address) as connection, connection.makefile("rw") as stream:
            stream.write(f"{index}\n")
            stream.flush()
            if index == 25:
                announce()
            return int(stream.readline())  # stalls here

    def __getitem__(self, index):
        return torch.full((3,), index / self.count), self.label_of(index)


def main():
    labels = [key % 3 for key in range(50)]
    labels[25] = None
    server = LabelServer(labels)
    server.start()
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    dataset = Reviewed(server.listener.getsockname(), len(labels))
    for inputs, targets in DataLoader(dataset, batch_size=5, num_workers=2):
        loss = F.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
