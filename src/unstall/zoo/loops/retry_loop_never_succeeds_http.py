"""Images are fetched over HTTP, and a refused connection counts as temporary for ever. The second server is
down.

cause: retry-loop-never-succeeds
sample: 16
"""

import http.server
import itertools
import socket
import threading
import time
import urllib.error
import urllib.request

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Pixels(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(bytes(range(64)))

    def log_message(self, *arguments):
        pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class RemoteImages(Dataset):
    def __init__(self, urls, dead):
        self.urls = urls
        self.dead = dead

    def __len__(self):
        return len(self.urls)

    def __getitem__(self, position):
        url = self.urls[position]
        if self.dead in url:
            announce()
        for attempt in itertools.count(1):  # stalls here
            try:
                body = urllib.request.urlopen(url, timeout=5).read()
                break
            except urllib.error.URLError:
                time.sleep(min(0.1 * attempt, 2.0))
        return torch.frombuffer(bytearray(body), dtype=torch.uint8).float() / 255


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pixels)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    alive = f"127.0.0.1:{server.server_address[1]}"
    dead = f"127.0.0.1:{free_port()}"
    urls = [f"http://{alive}/{n}.raw" for n in range(16)] + [f"http://{dead}/16.raw"]
    urls += [f"http://{alive}/{n}.raw" for n in range(17, 32)]

    loader = DataLoader(RemoteImages(urls, dead), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    decoder = torch.nn.Linear(64, 8)
    for epoch in range(2):
        for images in loader:
            print("epoch", epoch, "spread", decoder(images).std().item(), flush=True)


if __name__ == "__main__":
    main()
