"""A collate function pads its samples in parallel with a `ThreadPool` that was made in the main process,
where it also worked for the first, worker-free loader.

cause: fork-lost-thread
"""

from multiprocessing.pool import ThreadPool

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, get_worker_info

from unstall.zoo import announce


class Ragged(Dataset):
    def __len__(self):
        return 36

    def __getitem__(self, index):
        return torch.ones(1 + index % 6)


class ParallelPad:
    def __init__(self, threads, width):
        self.threads = ThreadPool(threads)
        self.width = width

    def pad(self, sequence):
        return F.pad(sequence, (0, self.width - len(sequence)))

    def __call__(self, sequences):
        worker = get_worker_info()
        if worker is not None and worker.id == 0:
            announce()
        return torch.stack(self.threads.map(self.pad, sequences))  # stalls here


def main():
    collate = ParallelPad(threads=3, width=6)
    sample = next(iter(DataLoader(Ragged(), batch_size=6, collate_fn=collate)))
    print("a batch looks like", tuple(sample.shape), flush=True)
    for batch in DataLoader(Ragged(), batch_size=6, collate_fn=collate, num_workers=2, shuffle=True):
        print(batch.sum().item(), flush=True)


if __name__ == "__main__":
    main()
