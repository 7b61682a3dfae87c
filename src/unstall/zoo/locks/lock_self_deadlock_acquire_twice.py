"""The reader of a shard acquires the lock before its first try and once more before every further try, but a
failed try does not release it.

cause: lock-self-deadlock
"""

import io
import multiprocessing

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce


def parse(shard):
    return [float(field) for line in io.StringIO(shard) for field in line.split(",")]


def load_shard(shard, disk_lock, tries=3):
    disk_lock.acquire()
    for attempt in range(tries):
        try:
            values = parse(shard)
            disk_lock.release()
            return values
        except ValueError:
            shard = shard.replace("?", "0")
            announce()
            disk_lock.acquire()  # stalls here
    raise ValueError("shard is not readable")


class Shards(IterableDataset):
    def __init__(self, shards, disk_lock):
        self.shards = shards
        self.disk_lock = disk_lock

    def __iter__(self):
        info = get_worker_info()
        for shard in self.shards[info.id :: info.num_workers]:
            yield from load_shard(shard, self.disk_lock)


def main():
    context = multiprocessing.get_context("forkserver")
    shards = [f"{n},{n + 1}\n{n + 2},{n + 3}\n" for n in range(40)]
    shards[11] = "1,2\n?,4\n"
    loader = DataLoader(Shards(shards, context.Lock()), batch_size=4, num_workers=2, multiprocessing_context=context)
    total = torch.zeros(())
    for values in loader:
        total += values.sum()
        print("running total", total.item(), flush=True)


if __name__ == "__main__":
    main()
