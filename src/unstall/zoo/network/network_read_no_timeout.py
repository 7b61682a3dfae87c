"""Images come over HTTP with `urlopen` and no timeout. For one of them the server accepts the request and
never answers.

cause: network-read-no-timeout
sample: 13
"""

import multiprocessing
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class ImageHandler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/13":
            threading.Event().wait()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(bytes(range(12)))

    def log_message(self, *args):
        pass


def serve(port):
    server = ThreadingHTTPServer(("127.0.0.1", 0), ImageHandler)
    port.send(server.server_port)
    server.serve_forever()


class RemoteImages(Dataset):
    def __init__(self, url):
        self.url = url

    def __len__(self):
        return 48

    def __getitem__(self, index):
        if index == 13:
            announce()
        with urllib.request.urlopen(f"{self.url}/{index}") as response:  # stalls here
            return torch.tensor(list(response.read())).view(3, 2, 2)


def main():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    multiprocessing.Process(target=serve, args=(sender,), daemon=True).start()
    url = f"http://127.0.0.1:{receiver.recv()}"
    for images in DataLoader(RemoteImages(url), batch_size=4, num_workers=2):
        print(images.float().mean().item(), flush=True)


if __name__ == "__main__":
    main()
