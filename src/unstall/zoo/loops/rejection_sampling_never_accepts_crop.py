"""A crop is drawn until the whole box lies inside it, and one box is wider than the crop.

cause: rejection-sampling-never-accepts
sample: 38
"""

import random

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class RandomCropWithBox:
    def __init__(self, size):
        self.size = size

    def draw(self, image):
        top = random.randint(0, image.shape[1] - self.size)
        left = random.randint(0, image.shape[2] - self.size)
        return top, left

    def contains(self, crop, box):
        (top, left), (y0, x0, y1, x1) = crop, box
        return top <= y0 and left <= x0 and y1 <= top + self.size and x1 <= left + self.size

    def __call__(self, image, box):
        for crop in iter(lambda: self.draw(image), None):  # stalls here
            if self.contains(crop, box):
                break
        top, left = crop
        return image[:, top : top + self.size, left : left + self.size], box - torch.tensor([top, left] * 2)


class Sequential:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, *values):
        for transform in self.transforms:
            values = transform(*values)
        return values


def flip(image, box):
    width = image.shape[2]
    return image.flip(2), torch.stack([box[0], width - box[3], box[2], width - box[1]])


class Traffic(Dataset):
    def __init__(self, boxes, pipeline):
        self.boxes, self.pipeline = boxes, pipeline

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, frame):
        box = torch.tensor(self.boxes[frame])
        if box[3] - box[1] > 32:
            announce()
        return self.pipeline(torch.zeros(3, 48, 48), box)


def main():
    boxes = [(20, 20, 30, 28)] * 38 + [(10, 4, 20, 44)] + [(18, 22, 28, 30)] * 9
    data = Traffic(boxes, Sequential([flip, RandomCropWithBox(32)]))
    loader = DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True, multiprocessing_context="spawn")
    regressor = torch.nn.Linear(3 * 32 * 32, 4)
    optimizer = torch.optim.SGD(regressor.parameters(), lr=0.01)
    for crops, targets in loader:
        loss = torch.nn.functional.l1_loss(regressor(crops.flatten(1)), targets.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("l1", loss.item(), flush=True)


if __name__ == "__main__":
    main()
