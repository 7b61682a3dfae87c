"""A shell command (`flock FILE …`) guards the data folder while it copies; the training takes the same lock
in its own process before it re-reads the manifest.

cause: file-lock-held
"""

import fcntl
import os
import subprocess
import tempfile
import time

import torch
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, TensorDataset

from unstall.zoo import announce


def read_manifest(path):
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # stalls here
        return os.read(descriptor, 4096).decode().split()
    finally:
        os.close(descriptor)


def is_locked(path):
    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def main():
    manifest = os.path.join(tempfile.mkdtemp(), "MANIFEST")
    with open(manifest, "w") as file:
        file.write("train-000.npy train-001.npy")
    print("files:", read_manifest(manifest))

    data = TensorDataset(torch.randn(48, 3))
    model = torch.nn.Linear(3, 1)
    loader = DataLoader(data, batch_sampler=BatchSampler(SequentialSampler(data), 6, False))
    for epoch in range(2):
        for (inputs,) in loader:
            print("epoch", epoch, model(inputs).mean().item(), flush=True)
        subprocess.Popen(["flock", manifest, "sleep", "100000"])
        while not is_locked(manifest):
            time.sleep(0.01)
        announce()
        print("files:", read_manifest(manifest))


if __name__ == "__main__":
    main()
