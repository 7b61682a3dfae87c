"""The generator of a streaming dataset takes a download permit for every shard; the `continue` for a shard
that was seen before skips the release.

cause: semaphore-not-released
"""

import threading

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class ShardStream(IterableDataset):
    def __init__(self, names, parallel_downloads):
        self.names = names
        self.parallel_downloads = parallel_downloads

    def __iter__(self):
        permits = threading.Semaphore(self.parallel_downloads)
        seen = set()
        for name in self.names:
            if name == "ggggggg":
                announce()
            permits.acquire()  # stalls here
            if name in seen:
                continue
            seen.add(name)
            yield from torch.full((4, 2), float(len(name)))
            permits.release()


def main():
    names = ["a", "bb", "ccc", "a", "dddd", "eeeee", "bb", "ffffff", "ffffff", "ggggggg", "hhhhhhhh"]
    classifier = torch.nn.Linear(2, 2)
    for batch in DataLoader(ShardStream(names, parallel_downloads=3), batch_size=4, num_workers=1):
        print(classifier(batch).sum().item(), flush=True)


if __name__ == "__main__":
    main()
