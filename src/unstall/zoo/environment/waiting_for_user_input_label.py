"""A dataset for active learning asks the person at the keyboard for every label that is missing.

cause: waiting-for-user-input
sample: 15
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class PartlyLabelled(Dataset):
    def __init__(self, points, labels):
        self.points = points
        self.labels = labels

    def __len__(self):
        return len(self.points)

    def ask(self, k):
        announce()
        return int(input(f"class of point {k}: "))  # stalls here

    def __getitem__(self, k):
        label = self.labels.get(k)
        if label is None:
            label = self.ask(k)
        return self.points[k], label


def main():
    points = torch.randn(30, 2)
    labels = {k: int(points[k, 0] > 0) for k in range(30) if k != 15}
    perceptron = torch.nn.Linear(2, 2)
    rule = torch.optim.SGD(perceptron.parameters(), lr=0.5)
    for point, label in DataLoader(PartlyLabelled(points, labels), batch_size=3, num_workers=0):
        loss = torch.nn.functional.cross_entropy(perceptron(point), label)
        rule.zero_grad()
        loss.backward()
        rule.step()
        print(f"{loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
