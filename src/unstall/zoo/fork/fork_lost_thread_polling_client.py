"""A client with an event loop in a thread waits one second at a time, again and again. Its worker has no such thread.

cause: fork-lost-thread
sample: 0
"""

import asyncio
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Store:
    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True, name="store").start()

    async def _read(self, key):
        await asyncio.sleep(0.001)
        return [float(key), float(key) / 2]

    async def _run(self, key, done, result):
        result.append(await self._read(key))
        done.set()

    def read(self, key):
        done, result = threading.Event(), []
        asyncio.run_coroutine_threadsafe(self._run(key, done, result), self.loop)
        while True:
            if done.wait(1):  # stalls here
                break
        return result[0]


class Blobs(Dataset):
    def __init__(self, store):
        self.store = store
        self.mean = sum(store.read(3))

    def __len__(self):
        return 40

    def __getitem__(self, key):
        if key == 0:
            announce()
        return torch.tensor(self.store.read(key)) - self.mean


def main():
    model = torch.nn.Linear(2, 1)
    for blobs in DataLoader(Blobs(Store()), batch_size=5, num_workers=2):
        model(blobs).mean().backward()


if __name__ == "__main__":
    main()
