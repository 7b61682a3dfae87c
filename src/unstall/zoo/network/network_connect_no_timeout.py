"""A worker connects to a server that does not answer: its queue of new connections is full, so the kernel
drops every further attempt. There is no timeout on the connection.

cause: network-connect-no-timeout
sample: 18
"""

import multiprocessing
import socket
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def overloaded_server(addresses):
    healthy = socket.create_server(("127.0.0.1", 0))
    busy = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = []
    for _ in range(4):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(busy.getsockname())
        waiting.append(client)
    time.sleep(0.1)
    addresses.put([healthy.getsockname(), busy.getsockname()])
    while True:
        connection, _ = healthy.accept()
        connection.sendall(b"7")
        connection.close()


class Replicated(Dataset):
    def __init__(self, addresses):
        self.addresses = addresses

    def __len__(self):
        return 30

    def __getitem__(self, index):
        if index == 18:
            announce()
        connection = socket.create_connection(self.addresses[index == 18])  # stalls here
        with connection:
            return torch.tensor(int(connection.recv(1)) + index)


def main():
    addresses = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=overloaded_server, args=(addresses,), daemon=True).start()
    for batch in DataLoader(Replicated(addresses.get()), batch_size=3, num_workers=2):
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
