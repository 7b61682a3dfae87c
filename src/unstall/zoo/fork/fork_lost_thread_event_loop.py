"""A storage client runs its asyncio loop in a background thread. It was used in the main process before the
workers were forked, and in them that thread does not exist.

cause: fork-lost-thread
"""

import asyncio
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class ObjectStore:
    def __init__(self):
        self.loop = None

    def _start(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="storeIO", daemon=True).start()

    def _sync(self, coroutine):
        if self.loop is None:
            self._start()
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        return future.result()  # stalls here

    async def _ls(self):
        await asyncio.sleep(0.01)
        return [f"object-{n}" for n in range(30)]

    async def _cat(self, key):
        await asyncio.sleep(0.001)
        return key.encode()

    def ls(self):
        return self._sync(self._ls())

    def cat(self, key):
        return self._sync(self._cat(key))


class Objects(Dataset):
    def __init__(self, store):
        self.store = store
        self.keys = store.ls()

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, index):
        if index == 0:
            announce()
        return torch.tensor(list(self.store.cat(self.keys[index])[:6]))


def main():
    dataset = Objects(ObjectStore())
    print(len(dataset), "objects, the first is", dataset.store.cat(dataset.keys[0]), flush=True)
    for batch in DataLoader(dataset, batch_size=5, num_workers=2):
        print(batch.float().mean().item(), flush=True)


if __name__ == "__main__":
    main()
