"""Labels are mapped to their top category by following the parents, and two categories name each other as
parent.

cause: infinite-loop-in-getitem
sample: 27
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

PARENTS = {"spaniel": "dog", "dog": "animal", "tulip": "flower", "flower": "plant", "fern": "plant"}
PARENTS |= {"violet": "perennial", "perennial": "violet"}
TOP = ["animal", "plant"]


def top_category(name):
    while name not in TOP:  # stalls here
        name = PARENTS[name]
    return TOP.index(name)


class Photos(Dataset):
    names = ["spaniel", "tulip", "fern"] * 9 + ["violet"] + ["tulip", "fern"] * 6

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        pixels = torch.full((3, 8, 8), i / 40)
        if self.names[i] == "violet":
            announce()
        return {"pixels": pixels, "label": top_category(self.names[i])}


def main():
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 2))
    sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(3):
        for batch in DataLoader(Photos(), batch_size=5):
            sgd.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(batch["pixels"]), batch["label"])
            loss.backward()
            sgd.step()
            print("epoch", epoch, "loss", round(loss.item(), 3))


if __name__ == "__main__":
    main()
