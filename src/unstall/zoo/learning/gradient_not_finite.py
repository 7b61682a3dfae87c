"""Two views of one picture should be mapped to the same place. The distance of two equal places is 0, and
the square root has no finite slope there.

The loss is an ordinary number all the time; at the first pair of equal views the gradients are NaN, one step
later all weights are.

cause: gradient-not-finite
verdict: not-learning
watched: steps
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Views(Dataset):
    def __init__(self):
        self.pictures = torch.rand(240, 16, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        noise = 0.0 if index == 100 else 0.1
        return self.pictures[index], self.pictures[index] + noise


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, pictures):
        return self.head(self.body(pictures))


def main():
    torch.manual_seed(0)
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Views(), batch_size=8)
    for step, (left, right) in enumerate(loader):
        distance = (model(left) - model(right)).square().sum(1).sqrt()
        loss = distance.mean()
        optimizer.zero_grad()
        loss.backward()  # stalls here
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
