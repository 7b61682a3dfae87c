"""After every epoch the training process posts its metrics to a tracking server, which takes the request and
does not answer. There is no data to blame.

cause: network-read-no-timeout
"""

import json
import multiprocessing
import socket
import urllib.request

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def track(address):
    listener = socket.create_server(("127.0.0.1", 0))
    address.put(listener.getsockname())
    answers = [b"HTTP/1.0 200 OK\r\n\r\n{}"]
    connections = []
    while True:
        connection, _ = listener.accept()
        connection.recv(65536)
        if answers:
            connection.sendall(answers.pop())
            connection.close()
        connections.append(connection)


class Tracker:
    def __init__(self, host, port):
        self.url = f"http://{host}:{port}/api/metrics"

    def log(self, **metrics):
        request = urllib.request.Request(self.url, data=json.dumps(metrics).encode(), method="POST")
        return json.load(urllib.request.urlopen(request))  # stalls here


class EndOfEpoch:
    def __init__(self, tracker):
        self.tracker = tracker

    def __call__(self, epoch, loss):
        if epoch == 1:
            announce()
        self.tracker.log(epoch=epoch, loss=loss)
        print("tracked epoch", epoch, flush=True)


def fit(model, loader, callbacks, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for (x,) in loader:
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for callback in callbacks:
            callback(epoch, loss.item())


def main():
    address = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=track, args=(address,), daemon=True).start()
    tracker = Tracker(*address.get())
    loader = DataLoader(TensorDataset(torch.randn(40, 3)), batch_size=5, num_workers=2, persistent_workers=True)
    fit(torch.nn.Linear(3, 1), loader, [EndOfEpoch(tracker)], epochs=3)


if __name__ == "__main__":
    main()
