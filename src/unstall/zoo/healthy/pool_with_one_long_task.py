"""A pool whose last task takes much longer than all others: its other processes are idle, and the training waits.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time

import torch

from unstall.zoo import announce


def prepare(number):
    if number == 7:
        announce()
        for _ in range(1200):
            time.sleep(0.02)
    return float(number)


def main():
    with multiprocessing.Pool(3) as pool:
        rows = pool.map(prepare, range(8), chunksize=1)
    print(torch.tensor(rows).sum())


if __name__ == "__main__":
    main()
