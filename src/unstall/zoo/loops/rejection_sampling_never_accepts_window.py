"""A window must hold every box of the image. One box is as large as the image, and no window is.

cause: rejection-sampling-never-accepts
sample: 9
"""

import random

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce
from unstall.zoo.loops._boxes import random_window

SIDE = 64


class Scenes(Dataset):
    def __init__(self, boxes):
        self.boxes = boxes

    def __len__(self):
        return len(self.boxes)

    def holds(self, window, boxes):
        left, top, width = window
        return all(left <= x and top <= y and x + w <= left + width and y + w <= top + width for x, y, w in boxes)

    def __getitem__(self, index):
        draw = random.Random(index)
        if index == 9:
            announce()
        window = random_window(draw, SIDE)
        while not self.holds(window, self.boxes[index]):  # stalls here
            window = random_window(draw, SIDE)
        return torch.tensor(window, dtype=torch.float32)


def main():
    boxes = [[(30, 30, 4)] for _ in range(40)]
    boxes[9] = [(0, 0, SIDE)]
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for windows in DataLoader(Scenes(boxes), batch_size=4, num_workers=2, persistent_workers=True):
        optimizer.zero_grad()
        model(windows).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
