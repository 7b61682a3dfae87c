"""A breadth-first search through a large maze: the queue grows and shrinks, what has been seen only grows.

cause: none
verdict: progressing, slow, finished
"""

import collections

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


class Mazes(Dataset):
    def __init__(self, sides):
        self.sides = sides

    def __len__(self):
        return len(self.sides)

    def neighbours(self, place, side):
        for across, down in STEPS:
            x, y = place[0] + across, place[1] + down
            if 0 <= x < side and 0 <= y < side and (x * y) % 3 != 1:
                yield x, y

    def __getitem__(self, index):
        side = self.sides[index]
        if side > 1000:
            announce()
        queue, distance = collections.deque([(0, 0)]), {(0, 0): 0}
        while queue:
            here = queue.popleft()
            for there in self.neighbours(here, side):
                if there not in distance:
                    distance[there] = distance[here] + 1
                    queue.append(there)
        return torch.tensor([float(side), float(max(distance.values()))])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for batch in DataLoader(Mazes([20, 30, 2200, 2200]), batch_size=1):
        optimizer.zero_grad()
        (model(batch[:, :1]) - batch[:, 1:]).abs().mean().backward()
        optimizer.step()
        print("longest way", batch[0, 1].item(), flush=True)


if __name__ == "__main__":
    main()
