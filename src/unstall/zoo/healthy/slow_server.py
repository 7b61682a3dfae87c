"""A server needs three seconds for each answer. The requests have no time limit, but every one is answered.

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


class Renderer(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(3)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path[1:].encode())

    def log_message(self, *args):
        pass


def serve(ports):
    server = HTTPServer(("127.0.0.1", 0), Renderer)
    ports.put(server.server_port)
    server.serve_forever()


class Rendered(Dataset):
    def __init__(self, url):
        self.url = url

    def __len__(self):
        return 12

    def __getitem__(self, index):
        with urllib.request.urlopen(f"{self.url}/{index}") as answer:
            return torch.tensor([int(answer.read())])


def main():
    ports = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=serve, args=(ports,), daemon=True).start()
    loader = DataLoader(Rendered(f"http://127.0.0.1:{ports.get()}"), batch_size=1, num_workers=1)
    for number, batch in enumerate(loader):
        if number == 0:
            announce()
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
