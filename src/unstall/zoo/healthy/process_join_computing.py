"""The training joins a process that computes for a while, and has put a small result into a queue.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time

import torch

from unstall.zoo import announce


def search(best):
    announce()
    found = 0
    until = time.monotonic() + 25
    while time.monotonic() < until:
        found = max(found, sum(range(2000)))
    best.put(found)


def main():
    best = multiprocessing.Queue()
    process = multiprocessing.Process(target=search, args=(best,))
    process.start()
    process.join()
    model = torch.nn.Linear(1, 1)
    model(torch.tensor([float(best.get())])).backward()


if __name__ == "__main__":
    main()
