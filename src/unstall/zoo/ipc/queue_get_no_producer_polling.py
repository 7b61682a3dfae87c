"""A process fed sixty numbers into a queue and is done. The workers ask for more, a second at a time, for ever.

cause: queue-get-no-producer
"""

import multiprocessing
import queue

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Fed(Dataset):
    def __init__(self, numbers):
        self.numbers, self.tries = numbers, 0

    def __len__(self):
        return 200

    def __getitem__(self, index):
        while True:
            try:
                number = self.numbers.get(timeout=0.8)  # stalls here
                break
            except queue.Empty:
                announce()
        return torch.tensor([float(number)])


def feed(numbers):
    for number in range(60):
        numbers.put(number)


def main():
    numbers = multiprocessing.Queue()
    feeder = multiprocessing.Process(target=feed, args=(numbers,))
    feeder.start()
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for x in DataLoader(Fed(numbers), batch_size=5, num_workers=1):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
