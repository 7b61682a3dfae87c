"""A metric keeps the outputs of each batch in a list of its own, without detaching them.

cause: autograd-graph-kept
verdict: slow
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


class Metric:
    def __init__(self):
        self.seen = []

    def update(self, step, outputs):
        self.seen.append((step, outputs))  # stalls here


def main():
    torch.set_num_threads(1)
    loader = DataLoader(TensorDataset(torch.rand(2000, 32)), batch_size=500, num_workers=1, persistent_workers=True)
    model = torch.nn.Sequential(torch.nn.Linear(32, 128), torch.nn.Tanh(), torch.nn.Linear(128, 400))
    optimizer = torch.optim.Adam(model.parameters())
    metric = Metric()
    begin = time.monotonic()
    step = 0
    while time.monotonic() - begin < 60:
        for (rows,) in loader:
            outputs = model(rows)
            optimizer.zero_grad()
            outputs.square().mean().backward()
            optimizer.step()
            metric.update(step, outputs)
            step += 1
            time.sleep(0.03)


if __name__ == "__main__":
    main()
