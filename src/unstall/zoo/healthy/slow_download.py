"""A download of ten pieces: one piece each second. No time limit, but it comes to its end.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import socket
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def serve(ports):
    listener = socket.create_server(("127.0.0.1", 0))
    ports.put(listener.getsockname()[1])
    while True:
        connection, _ = listener.accept()
        for _ in range(10):
            time.sleep(1)
            connection.sendall(bytes(100))
        connection.close()


class Downloads(Dataset):
    def __init__(self, port):
        self.port = port

    def __len__(self):
        return 4

    def __getitem__(self, index):
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            if index == 0:
                announce()
            body = b""
            while part := connection.recv(4096):
                body += part
        return torch.tensor([len(body)])


def main():
    ports = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=serve, args=(ports,), daemon=True).start()
    for sizes in DataLoader(Downloads(ports.get()), batch_size=1, num_workers=1):
        print(sizes.item(), flush=True)


if __name__ == "__main__":
    main()
