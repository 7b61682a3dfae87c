"""After an epoch, spawned evaluators send their scores; the training waits for them to end, then looks at the scores.

cause: join-before-queue-drained
"""

import multiprocessing

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def evaluate(weights, scores):
    for number in range(40):
        scores.put((number, bytes(10_000 + len(weights))))
    announce()


class Evaluation:
    def __init__(self, number):
        context = multiprocessing.get_context("spawn")
        self.scores = context.Queue()
        self.number = number
        self.evaluators = []
        self.context = context

    def start(self, model):
        weights = [float(one) for one in model.weight.flatten()]
        for _ in range(self.number):
            process = self.context.Process(target=evaluate, args=(weights, self.scores), daemon=True)
            process.start()
            self.evaluators.append(process)

    def finish(self):
        for process in self.evaluators:
            process.join()  # stalls here
        return [self.scores.get() for _ in range(40 * self.number)]


def main():
    model = nn.Linear(4, 1)
    for (x,) in DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8):
        model(x).sum().backward()
    evaluation = Evaluation(2)
    evaluation.start(model)
    print(len(evaluation.finish()))


if __name__ == "__main__":
    main()
