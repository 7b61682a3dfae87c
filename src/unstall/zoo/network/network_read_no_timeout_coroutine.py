"""A sample gathers two answers with asyncio. One server accepts the connection and says nothing; nothing limits
the wait.

cause: network-read-no-timeout
sample: 8
"""

import asyncio
import multiprocessing
import socket

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def serve(ports):
    listener = socket.create_server(("127.0.0.1", 0))
    ports.put(listener.getsockname()[1])
    kept = []
    while True:
        connection, _ = listener.accept()
        if connection.recv(16) == b"8\n":
            kept.append(connection)
            continue
        connection.sendall(b"4\n")
        connection.close()


class Remote(Dataset):
    def __init__(self, port):
        self.port = port

    def __len__(self):
        return 20

    async def ask(self, index):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"{index}\n".encode())
        await writer.drain()
        answer = await reader.readline()
        writer.close()
        return int(answer)

    async def both(self, index):
        return await asyncio.gather(self.ask(index), self.ask(index + 100))

    def __getitem__(self, index):
        if index == 8:
            announce()
        return torch.tensor(asyncio.run(self.both(index)))  # stalls here


def main():
    ports = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=serve, args=(ports,), daemon=True).start()
    for answers in DataLoader(Remote(ports.get()), batch_size=4, num_workers=1):
        print(answers.tolist(), flush=True)


if __name__ == "__main__":
    main()
