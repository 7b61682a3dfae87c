"""A temperature is learned as its logarithm. One label is far from its score, so the slope of the exponential
is too large for a 32-bit number, though the loss itself is clamped to a harmless value.

cause: gradient-not-finite
verdict: not-learning
watched: steps
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(3, 1)
        self.log_temperature = nn.Parameter(torch.tensor(0.0))

    def forward(self, features):
        return self.score(features).squeeze(1) * self.log_temperature.exp()


def surprise(scores, labels):
    return torch.exp(labels - scores).clamp(max=100.0).log1p()


def train(model, loader, optimizer):
    for _ in range(2):
        for features, labels in loader:
            loss = torch.where(labels < 50, surprise(model(features), labels), torch.zeros(())).mean()
            optimizer.zero_grad()
            loss.backward()  # stalls here
            optimizer.step()
            print("loss", loss.item(), flush=True)


def main():
    torch.manual_seed(3)
    features = torch.randn(96, 3)
    labels = features.sum(1)
    labels[50] = 95.0
    model = Scorer()
    train(model, DataLoader(TensorDataset(features, labels), batch_size=4), torch.optim.Adam(model.parameters()))


if __name__ == "__main__":
    main()
