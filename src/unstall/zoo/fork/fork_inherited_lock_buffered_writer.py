"""A thread writes to a metrics pipe that nobody empties, and so holds the C lock inside the buffered file
object while the worker is forked. The worker writes to the same file object.

cause: fork-inherited-lock
sample: 0
"""

import os
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def publish(stream):
    for number in range(10**6):
        stream.write(b"%064d\n" % number)


class Boxes(Dataset):
    def __init__(self, stream):
        self.stream = stream

    def __len__(self):
        return 16

    def __getitem__(self, index):
        announce()
        self.stream.write(b"box %d\n" % index)  # stalls here
        return torch.arange(4) + index


def thread_sleeps_in_write(thread):
    with open(f"/proc/self/task/{thread.native_id}/syscall") as file:
        return file.read().split()[0] == "1"


def main():
    reader, writer = os.pipe()
    stream = os.fdopen(writer, "wb", buffering=4096)
    publisher = threading.Thread(target=publish, args=(stream,), daemon=True)
    publisher.start()
    while not thread_sleeps_in_write(publisher):
        time.sleep(0.02)
    for boxes in DataLoader(Boxes(stream), batch_size=2, num_workers=1):
        print(boxes.tolist(), flush=True)
    os.close(reader)


if __name__ == "__main__":
    main()
