"""Four workers ask a server that answers one request after the other, and needs two seconds for each.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Depth(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(2)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(bytes(4))

    def log_message(self, *args):
        pass


def serve(port):
    server = HTTPServer(("127.0.0.1", 0), Depth)
    port.send(server.server_port)
    server.serve_forever()


class Depths(Dataset):
    def __init__(self, url):
        self.url = url

    def __len__(self):
        return 40

    def __getitem__(self, index):
        if index == 0:
            announce()
        with urllib.request.urlopen(f"{self.url}/{index}") as response:
            return torch.tensor(list(response.read()))


def main():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    multiprocessing.Process(target=serve, args=(sender,), daemon=True).start()
    url = f"http://127.0.0.1:{receiver.recv()}"
    for depths in DataLoader(Depths(url), batch_size=2, num_workers=4):
        print(depths.sum().item(), flush=True)


if __name__ == "__main__":
    main()
