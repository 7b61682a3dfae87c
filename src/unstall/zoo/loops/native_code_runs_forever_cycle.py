"""The weights of a curriculum are cycled so that every sample gets one; somebody then sums the cycle instead
of a part of it.

cause: native-code-runs-forever
"""

from itertools import cycle, islice

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Curriculum:
    def __init__(self, weights):
        self.weights = weights

    def first(self, number):
        return torch.tensor(list(islice(cycle(self.weights), number)))

    def total(self):
        return sum(cycle(self.weights))  # stalls here


class Engine:
    def __init__(self, module, curriculum):
        self.module = module
        self.curriculum = curriculum
        self.optimizer = torch.optim.SGD(module.parameters(), lr=0.1)

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            self.epoch(batches)
            self.report(epoch)

    def epoch(self, batches):
        for features, target in batches:
            error = (self.module(features) - target).square().squeeze(1)
            self.optimizer.zero_grad()
            (error * self.curriculum.first(len(error))).mean().backward()
            self.optimizer.step()
        self.error = error.mean().item()

    def report(self, epoch):
        print(f"epoch {epoch} error {self.error:.4f}", flush=True)
        if epoch == 2:
            announce()
            print("weight seen so far", self.curriculum.total())


def main():
    features = torch.randn(60, 3)
    batches = DataLoader(TensorDataset(features, features.sum(1, keepdim=True)), batch_size=10, num_workers=2)
    Engine(torch.nn.Linear(3, 1), Curriculum([0.0, 0.5, 1.0])).fit(batches, epochs=10)


if __name__ == "__main__":
    main()
