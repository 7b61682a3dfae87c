"""A pool's task raises an error with two arguments. The pool's thread dies when it reads it, and the training waits.

cause: exception-not-picklable
"""

import multiprocessing

import torch

from unstall.zoo import announce


class Rejected(Exception):
    def __init__(self, number, reason):
        super().__init__(f"{number}: {reason}")


def prepare(number):
    if number == 5:
        announce()
        raise Rejected(number, "too dark")
    return torch.ones(2).tolist()


def main():
    with multiprocessing.Pool(2) as pool:
        results = [pool.apply_async(prepare, (number,)) for number in range(12)]
        rows = [one.get() for one in results]  # stalls here
    print(len(rows))


if __name__ == "__main__":
    main()
