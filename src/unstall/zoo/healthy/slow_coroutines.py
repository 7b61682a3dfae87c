"""Each sample gathers slow coroutines: one sleeps, one waits for a thread, one for a program.

cause: none
verdict: progressing, slow
"""

import asyncio
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def decode(seconds):
    time.sleep(seconds)
    return 1.0


class Slow(Dataset):
    def __len__(self):
        return 40

    async def parts(self, index):
        process = await asyncio.create_subprocess_exec("sleep", "9" if index == 6 else "0.1")
        thread = asyncio.get_running_loop().run_in_executor(None, decode, 10 if index == 6 else 0.1)
        one, _, two = await asyncio.gather(asyncio.sleep(0.2, 2.0), process.wait(), thread)
        return torch.tensor([one, two])

    def __getitem__(self, index):
        if index == 6:
            announce()
        return asyncio.run(self.parts(index))


def main():
    model = torch.nn.Linear(2, 1)
    for batch in DataLoader(Slow(), batch_size=4, num_workers=1):
        model(batch).sum().backward()


if __name__ == "__main__":
    main()
