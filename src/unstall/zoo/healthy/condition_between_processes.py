"""Workers wait at a condition until another process has filled the tank. It does so every few seconds.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def pump(filled, level):
    while True:
        time.sleep(4)
        with filled:
            level.value += 8
            filled.notify_all()


class Tank(Dataset):
    def __init__(self, filled, level):
        self.filled = filled
        self.level = level

    def __len__(self):
        return 4000

    def __getitem__(self, index):
        with self.filled:
            while self.level.value <= 0:
                self.filled.wait()
            self.level.value -= 1
        return torch.tensor([index / 4000])


def main():
    filled = multiprocessing.Condition()
    level = multiprocessing.Value("i", 8, lock=False)
    multiprocessing.Process(target=pump, args=(filled, level), daemon=True).start()
    model = torch.nn.Linear(1, 1)
    for step, water in enumerate(DataLoader(Tank(filled, level), batch_size=4, num_workers=2)):
        model(water).mean().backward()
        if step == 1:
            announce()


if __name__ == "__main__":
    main()
