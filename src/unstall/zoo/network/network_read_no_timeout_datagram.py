"""Each sample asks a service for its weight in one UDP packet. Packets get lost, and so does the answer to this
one.

cause: network-read-no-timeout
sample: 11
"""

import multiprocessing
import socket

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def weigh(ports):
    service = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    service.bind(("127.0.0.1", 0))
    ports.put(service.getsockname()[1])
    while True:
        question, client = service.recvfrom(64)
        if question != b"11":
            service.sendto(b"0.5", client)


class Weighted(Dataset):
    def __init__(self, port):
        self.port = port

    def __len__(self):
        return 26

    def weight(self, index):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as question:
            question.connect(("127.0.0.1", self.port))
            question.send(str(index).encode())
            if index == 11:
                announce()
            return float(question.recv(64))  # stalls here

    def __getitem__(self, index):
        return torch.rand(3) * self.weight(index)


def main():
    ports = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=weigh, args=(ports,), daemon=True).start()
    for samples in DataLoader(Weighted(ports.get()), batch_size=2, num_workers=2):
        print(samples.norm().item(), flush=True)


if __name__ == "__main__":
    main()
