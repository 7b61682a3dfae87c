"""Validation compares every pair of samples in plain Python, for about 40 seconds.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Ranking:
    def __init__(self, model, budget):
        self.model = model
        self.budget = budget

    def scores(self, x):
        return self.model(x).squeeze(1).tolist()

    def discordant(self, scores, truth):
        wrong = 0
        for i, score in enumerate(scores):
            for j in range(i):
                if (score - scores[j]) * (truth[i] - truth[j]) < 0:
                    wrong += 1
        return wrong

    @torch.no_grad()
    def evaluate(self, x, y):
        begin = time.monotonic()
        rounds = []
        while time.monotonic() - begin < self.budget:
            pick = torch.randperm(len(x))[:800]
            rounds.append(self.discordant(self.scores(x[pick]), y[pick].tolist()))
        return sum(rounds) / len(rounds)


def main():
    x = torch.randn(4000, 5)
    y = x[:, 0] - x[:, 1]
    model = torch.nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for a, b in DataLoader(TensorDataset(x, y), batch_size=50, num_workers=2):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(a).squeeze(1), b).backward()
            optimizer.step()
        if epoch == 0:
            announce()
        print(f"epoch {epoch}: {Ranking(model, budget=20).evaluate(x, y):.1f} wrong pairs", flush=True)


if __name__ == "__main__":
    main()
