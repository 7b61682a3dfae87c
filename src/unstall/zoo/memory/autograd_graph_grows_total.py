"""A module remembers a running average of its features, which is part of the loss.

cause: autograd-graph-grows
verdict: slow
watched: run
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(6, 12)
        self.average = torch.zeros(12)

    def forward(self, rows):
        features = self.inner(rows).sigmoid()
        mixed = 0.9 * self.average + 0.1 * features.mean(0)
        self.average = mixed  # stalls here
        return (features - mixed).square().mean()


def main():
    torch.set_num_threads(1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    for _ in range(20):
        for (rows,) in DataLoader(TensorDataset(torch.rand(4000, 6)), batch_size=4):
            optimizer.zero_grad()
            net(rows).backward(retain_graph=True)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)


if __name__ == "__main__":
    main()
