"""A reader keeps every shard that it opened, and with it the shard's `flock`. When its small cache forgets a
shard, the file stays open in another list; opening it again waits for the first lock.

cause: file-lock-self-deadlock
"""

import fcntl
import pathlib
import tempfile

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class LockedShard:
    def __init__(self, path):
        self.file = path.open("rb")
        fcntl.flock(self.file, fcntl.LOCK_EX)  # stalls here

    def rows(self):
        self.file.seek(0)
        return list(self.file.read())


class ShardedBytes(IterableDataset):
    def __init__(self, order):
        self.order = order
        self.cached = {}
        self.opened = []

    def shard(self, path):
        if path not in self.cached:
            if len(self.cached) == 2:
                self.cached.pop(next(iter(self.cached)))
            if any(shard.file.name == str(path) for shard in self.opened):
                announce()
            self.cached[path] = LockedShard(path)
            self.opened.append(self.cached[path])
        return self.cached[path]

    def __iter__(self):
        for path in self.order:
            yield from self.shard(path).rows()


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    a, b, c = paths = [folder / name for name in ("a.bin", "b.bin", "c.bin")]
    for value, path in enumerate(paths):
        path.write_bytes(bytes([value]) * 12)
    dataset = ShardedBytes([a, b, a, c, a, b])
    loader = DataLoader(dataset, batch_size=6, num_workers=1, multiprocessing_context="spawn")
    for batch in loader:
        print(torch.bincount(batch, minlength=3).tolist(), flush=True)


if __name__ == "__main__":
    main()
