"""A thread keeps a moving average of everything it can find, without a pause.

cause: gil-held-by-background-thread
verdict: slow
watched: run
"""

import threading

import torch
from torch.utils.data import DataLoader, TensorDataset


class Statistics(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.values = [0.0] * 500
        self.average = 0.0

    def run(self):
        while True:
            for value in self.values:
                self.average = 0.99 * self.average + 0.01 * value  # stalls here


def main():
    torch.set_num_threads(1)
    x = torch.rand(64_000, 16)
    statistics = Statistics()
    statistics.start()
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(100):
        for rows, targets in DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=32):
            optimizer.zero_grad()
            (model(rows) - targets).square().mean().backward()
            optimizer.step()
            statistics.values[0] = float(rows[0, 0])


if __name__ == "__main__":
    main()
