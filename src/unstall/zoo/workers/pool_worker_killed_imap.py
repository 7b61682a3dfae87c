"""A pool reads files while the training goes on. Another process kills one of its workers: the batch never comes.

cause: pool-worker-killed
"""

import multiprocessing
import os
import time

import torch

from unstall.zoo import announce


def read(number):
    if number == 30:
        time.sleep(0.2)
        announce()
        os._exit(1)
    return [float(number)] * 8


def main():
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for row in pool.imap(read, range(100)):  # stalls here
            optimizer.zero_grad()
            model(torch.tensor(row)).sum().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
