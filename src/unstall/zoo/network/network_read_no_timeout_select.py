"""A client waits with `select` for one of two replicas to answer, and gives `select` no time limit. Both are
silent.

cause: network-read-no-timeout
"""

import multiprocessing
import select
import socket

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


def replica(ports):
    listener = socket.create_server(("127.0.0.1", 0))
    ports.put(listener.getsockname()[1])
    connection, _ = listener.accept()
    for _ in range(10):
        connection.sendall(connection.recv(1))
    while connection.recv(1):
        pass


class Replicated(IterableDataset):
    def __init__(self, ports):
        self.ports = ports

    def __iter__(self):
        connections = [socket.create_connection(("127.0.0.1", port)) for port in self.ports]
        for number in range(30):
            if number == 10:
                announce()
            for connection in connections:
                connection.sendall(bytes([number]))
            silent = set(connections)
            while silent:
                ready, _, _ = select.select(silent, [], [])  # stalls here
                answers = [connection.recv(1) for connection in ready]
                silent -= set(ready)
            yield torch.tensor(answers[-1][0])


def main():
    queue = multiprocessing.SimpleQueue()
    for _ in range(2):
        multiprocessing.Process(target=replica, args=(queue,), daemon=True).start()
    for numbers in DataLoader(Replicated([queue.get(), queue.get()]), batch_size=2, num_workers=1):
        print(numbers.tolist(), flush=True)


if __name__ == "__main__":
    main()
