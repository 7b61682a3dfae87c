"""A pool whose tasks come from a generator that takes its time: all its processes wait for a task, and one will come.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import time

import torch

from unstall.zoo import announce


def arriving():
    for number in range(60):
        if number == 6:
            announce()
        time.sleep(0.1 if number < 6 else 1.5)
        yield number


def double(number):
    return 2.0 * number


def main():
    weight = torch.zeros(1, requires_grad=True)
    with multiprocessing.Pool(3) as pool:
        for value in pool.imap(double, arriving()):
            (weight * value).sum().backward()


if __name__ == "__main__":
    main()
