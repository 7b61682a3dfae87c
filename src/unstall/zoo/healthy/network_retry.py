"""Three requests get no answer. Each is given up after 3 seconds and tried five times; then a blank is used.

cause: none
verdict: progressing, slow
"""

import socket
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def serve(listener, connections):
    while True:
        connection, _ = listener.accept()
        number = int(connection.recv(16))
        if 12 <= number < 15:
            connections.append(connection)
            continue
        connection.sendall(bytes([number] * 10))
        connection.close()


class Remote(Dataset):
    def __init__(self, address, number):
        self.address, self.number = address, number

    def __len__(self):
        return self.number

    def request(self, number):
        with socket.create_connection(self.address, timeout=3) as connection:
            connection.sendall(str(number).encode())
            return connection.recv(10)

    def __getitem__(self, number):
        if number == 12:
            announce()
        data = bytes(10)
        for _ in range(5):
            try:
                data = self.request(number)
                break
            except TimeoutError:
                continue
        return torch.tensor(list(data)).float()


def main():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener, []), daemon=True).start()
        loader = DataLoader(Remote(listener.getsockname(), 30), batch_size=3, num_workers=1)
        model = torch.nn.Linear(10, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        for batch in loader:
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            print(batch[:, 0].tolist(), flush=True)


if __name__ == "__main__":
    main()
