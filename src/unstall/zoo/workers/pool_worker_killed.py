"""The data are prepared by a pool before the training. One of its processes is killed, and its task is lost: the pool
starts another process, and waits for the result for ever.

cause: pool-worker-killed
"""

import multiprocessing
import os
import signal

import torch

from unstall.zoo import announce


def prepare(number):
    if number == 7:
        announce()
        os.kill(os.getpid(), signal.SIGKILL)
    return torch.full((4,), float(number)).sum().item()


def main():
    with multiprocessing.Pool(3) as pool:
        rows = pool.map(prepare, range(20), chunksize=1)  # stalls here
    print(sum(rows))


if __name__ == "__main__":
    main()
