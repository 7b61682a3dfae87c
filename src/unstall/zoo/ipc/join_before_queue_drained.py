"""A helper process computes features and puts them into a queue. The training joins it before it reads them.

cause: join-before-queue-drained
"""

import multiprocessing

import torch
from torch import nn

from unstall.zoo import announce


def compute(features, count):
    for number in range(count):
        features.put([float(number)] * 5000)
    announce()


def main():
    features = multiprocessing.Queue()
    helper = multiprocessing.Process(target=compute, args=(features, 20))
    helper.start()
    helper.join()  # stalls here
    model = nn.Linear(5000, 1)
    for _ in range(20):
        loss = model(torch.tensor(features.get())).square().mean()
        loss.backward()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
