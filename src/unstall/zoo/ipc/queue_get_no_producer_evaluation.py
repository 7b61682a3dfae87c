"""The score of each epoch comes from another process through a queue. That process ends after two requests.

cause: queue-get-no-producer
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def evaluate(requests, scores):
    for _ in range(2):
        weights = requests.get()
        scores.put(sum(abs(weight) for weight in weights))


class Evaluator:
    def __init__(self):
        self.requests = multiprocessing.Queue()
        self.scores = multiprocessing.Queue()
        self.process = multiprocessing.Process(target=evaluate, args=(self.requests, self.scores), daemon=True)
        self.process.start()

    def score(self, model):
        self.requests.put(model.weight.flatten().tolist())
        return self.scores.get()  # stalls here


def main():
    evaluator = Evaluator()
    data = TensorDataset(torch.randn(80, 3))
    train_loader = DataLoader(data, batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        for (x,) in train_loader:
            optimizer.zero_grad()
            (model(x) - x.mean(1, keepdim=True)).square().mean().backward()
            optimizer.step()
        if epoch == 2:
            announce()
        print(f"epoch {epoch} score {evaluator.score(model):.3f}", flush=True)


if __name__ == "__main__":
    main()
