"""A manager process keeps the list of files to read. The end mark is put once, and two workers wait for it.

cause: queue-get-no-producer
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce


class WorkList(IterableDataset):
    def __init__(self, files):
        self.files = files

    def __iter__(self):
        while True:
            if get_worker_info().id == 1:
                announce()
            name = self.files.get()  # stalls here
            if name is None:
                return
            yield torch.full((2,), float(len(name)))


def fill(files):
    for number in range(6):
        files.put("part-" + "0" * number)
    files.put(None)


def main():
    with multiprocessing.Manager() as manager:
        files = manager.Queue()
        fill(files)
        for lengths in DataLoader(WorkList(files), batch_size=3, num_workers=2):
            print(lengths.mean().item(), flush=True)


if __name__ == "__main__":
    main()
