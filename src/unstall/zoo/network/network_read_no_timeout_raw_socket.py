"""A feature server speaks a small protocol over one connection per worker. It drops a request without an
answer, and `recv` waits without a timeout.

cause: network-read-no-timeout
"""

import multiprocessing as mp
import socket
import socketserver
import struct

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce

HEADER = struct.Struct("!I")


class FeatureHandler(socketserver.StreamRequestHandler):
    def handle(self):
        while header := self.rfile.read(HEADER.size):
            (key,) = HEADER.unpack(header)
            if key != 27:
                self.wfile.write(struct.pack("!4f", *(key / divisor for divisor in (1, 2, 3, 4))))


def run_server(address):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), FeatureHandler) as server:
        address.put(server.server_address)
        server.serve_forever()


class FeatureClient:
    def __init__(self, address):
        self.address = address
        self.connection = None

    def receive(self, count):
        data = b""
        while len(data) < count:
            data += self.connection.recv(count - len(data))  # stalls here
        return data

    def lookup(self, key):
        if self.connection is None:
            self.connection = socket.create_connection(self.address)
        self.connection.sendall(HEADER.pack(key))
        return struct.unpack("!4f", self.receive(16))


class Features(IterableDataset):
    def __init__(self, client):
        self.client = client

    def __iter__(self):
        worker = get_worker_info()
        for key in range(worker.id, 60, worker.num_workers):
            if key == 27:
                announce()
            yield torch.tensor(self.client.lookup(key))


def main():
    context = mp.get_context("forkserver")
    address = context.Queue()
    context.Process(target=run_server, args=(address,), daemon=True).start()
    dataset = Features(FeatureClient(address.get()))
    head = torch.nn.Linear(4, 1)
    for features in DataLoader(dataset, batch_size=3, num_workers=2, multiprocessing_context=context):
        print(head(features).flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
