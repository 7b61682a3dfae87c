"""At the exit a lock is taken, so that no upload is cut in half. A daemon thread holds it, and waits for an upload.

cause: lock-held-by-daemon-thread-at-exit
"""

import atexit
import queue
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce

uploads = queue.Queue()
uploading = threading.Lock()


def upload():
    while True:
        with uploading:
            name = uploads.get()  # stalls here
            print("uploaded", name, flush=True)


def main():
    atexit.register(uploading.acquire)
    threading.Thread(target=upload, name="uploads", daemon=True).start()
    model = nn.Linear(4, 1)
    for step, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8)):
        loss = model(x).square().mean()
        loss.backward()
        uploads.put(f"step-{step}.pt")
    announce()


if __name__ == "__main__":
    main()
