"""A sample asks a client for its data and awaits the answer. The client forgets requests that it has seen before.

cause: future-never-completed
sample: 9
"""

import asyncio

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Client:
    def __init__(self):
        self.seen = set()

    async def fetch(self, name):
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        if name not in self.seen:
            self.seen.add(name)
            loop.call_later(0.01, answer.set_result, len(name))
        else:
            announce()
        return await answer  # stalls here


class Remote(Dataset):
    def __init__(self, names):
        self.names = names
        self.client = Client()

    def __len__(self):
        return len(self.names)

    async def load(self, index):
        return await self.client.fetch(self.names[index])

    def __getitem__(self, index):
        return torch.tensor(asyncio.run(self.load(index)))


def main():
    names = [f"image-{number}" for number in range(20)]
    names[9] = names[1]
    for batch in DataLoader(Remote(names), batch_size=4, num_workers=1):
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
