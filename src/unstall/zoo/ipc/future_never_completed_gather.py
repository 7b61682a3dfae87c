"""Ten parts of the data are prepared together. One waits for an asyncio.Event that the last part should have set.

cause: future-never-completed
"""

import asyncio

import torch
from torch import nn

from unstall.zoo import announce


class Parts:
    def __init__(self, count):
        self.count = count
        self.header_read = asyncio.Event()

    async def read(self, number):
        await asyncio.sleep(0.02 * number)
        if number == self.count:
            self.header_read.set()
        if number == 3:
            announce()
            await self.header_read.wait()  # stalls here
        return torch.full((4,), float(number))

    async def all(self):
        return torch.stack(await asyncio.gather(*(self.read(number) for number in range(self.count))))


async def prepare():
    return await Parts(10).all()


def main():
    data = asyncio.run(prepare())
    model = nn.Linear(4, 1)
    loss = model(data).square().mean()
    loss.backward()
    print(loss.item())


if __name__ == "__main__":
    main()
