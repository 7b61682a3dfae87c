"""Workers take a permit per request and never give it back: a thread of main hands out new ones every ten seconds.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def hand_out(permits):
    while True:
        time.sleep(10)
        for _ in range(16):
            permits.release()


class Requests(Dataset):
    def __init__(self, permits):
        self.permits = permits

    def __len__(self):
        return 10**6

    def __getitem__(self, index):
        self.permits.acquire()
        return torch.tensor([index / 10**6])


def main():
    permits = multiprocessing.Semaphore(16)
    threading.Thread(target=hand_out, args=(permits,), daemon=True).start()
    model = torch.nn.Linear(1, 1)
    for step, answers in enumerate(DataLoader(Requests(permits), batch_size=2, num_workers=2)):
        model(answers).mean().backward()
        if step == 5:
            announce()


if __name__ == "__main__":
    main()
