"""The training process downloads its vocabulary from a mirror whose connection queue is full. `urlopen`
retries the handshake silently for minutes.

cause: network-connect-no-timeout
"""

import socket
import subprocess
import sys
import urllib.request

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce

MIRROR = """
import socket, time
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(0)
clients = [socket.socket() for _ in range(4)]
for client in clients:
    client.setblocking(False)
    client.connect_ex(listener.getsockname())
time.sleep(0.1)
print(listener.getsockname()[1], flush=True)
time.sleep(100000)
"""


class Assets:
    def __init__(self, base):
        self.base = base
        self.local = {"weights": b"0.5 0.25"}

    def get(self, name):
        if name not in self.local:
            announce()
            self.local[name] = urllib.request.urlopen(f"{self.base}/{name}").read()  # stalls here
        return self.local[name]


def evaluate(loader, weights):
    return sum((batch @ weights).abs().sum().item() for (batch,) in loader)


def main():
    mirror = subprocess.Popen([sys.executable, "-c", MIRROR], stdout=subprocess.PIPE)
    assets = Assets(f"http://{socket.gethostbyname('localhost')}:{int(mirror.stdout.readline())}")
    weights = torch.tensor([float(number) for number in assets.get("weights").split()])
    loader = DataLoader(TensorDataset(torch.randn(32, 2)), batch_size=8, num_workers=0)
    for round_number in range(3):
        print("round", round_number, evaluate(loader, weights), flush=True)
    print(assets.get("vocabulary").decode())


if __name__ == "__main__":
    main()
