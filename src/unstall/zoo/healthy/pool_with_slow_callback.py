"""A pool that has done its tasks: the callback that keeps the last result takes long. All its processes are idle meanwhile.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time

import torch

from unstall.zoo import announce


def prepare(number):
    return float(number)


def keep(rows):
    announce()
    for _ in range(1000):
        time.sleep(0.02)


def main():
    with multiprocessing.Pool(2) as pool:
        rows = pool.map_async(prepare, range(8), callback=keep).get()
    print(torch.tensor(rows).sum())


if __name__ == "__main__":
    main()
