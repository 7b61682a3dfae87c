"""Each shard comes through a named pipe, and its decoder needs three seconds to start.

cause: none
verdict: progressing, slow
"""

import os
import tempfile
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def decode(path):
    time.sleep(3)
    with open(path, "wb") as pipe:
        pipe.write(bytes(8))


class Decoded(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 8

    def __getitem__(self, index):
        path = os.path.join(self.folder, str(index))
        os.mkfifo(path)
        threading.Thread(target=decode, args=(path,), daemon=True).start()
        if index == 1:
            announce()
        with open(path, "rb") as pipe:
            return torch.tensor(list(pipe.read()))


def main():
    for shard in DataLoader(Decoded(tempfile.mkdtemp()), batch_size=1, num_workers=1):
        print(shard.sum().item(), flush=True)


if __name__ == "__main__":
    main()
