"""A download promises 4096 bytes, sends half of them and falls silent. The loop over its chunks has no
timeout.

cause: network-read-no-timeout
sample: 7
"""

import http.client
import subprocess
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

SERVER = """
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
kept = []
while True:
    connection, _ = listener.accept()
    path = connection.recv(65536).split()[1]
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4096\\r\\n\\r\\n" + bytes(2048))
    if path == b"/shards/7":
        kept.append(connection)
    else:
        connection.sendall(bytes(2048))
        connection.close()
"""


class ShardClient:
    def __init__(self, port):
        self.port = port

    def fetch(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path)
        response = connection.getresponse()
        body = bytearray()
        while chunk := response.read(1024):  # stalls here
            body += chunk
            if path.endswith("/7") and len(body) == 2048:
                announce()
        connection.close()
        return np.frombuffer(body, dtype=np.int32)


class RemoteShards(Dataset):
    def __init__(self, client, count):
        self.client = client
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return torch.from_numpy(self.client.fetch(f"/shards/{number}").copy())


def main():
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
    client = ShardClient(int(server.stdout.readline()))
    loader = DataLoader(RemoteShards(client, 16), batch_size=1, num_workers=1, multiprocessing_context="spawn")
    for shard in loader:
        print(tuple(shard.shape), flush=True)


if __name__ == "__main__":
    main()
