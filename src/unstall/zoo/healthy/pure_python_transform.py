"""A blur written as nested loops takes some tenths of a second for each image.

cause: none
verdict: progressing, slow
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def blur(rows, radius):
    height, width = len(rows), len(rows[0])
    result = []
    for y in range(height):
        line = []
        for x in range(width):
            total, number = 0.0, 0
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    if 0 <= y + dy < height and 0 <= x + dx < width:
                        total += rows[y + dy][x + dx]
                        number += 1
            line.append(total / number)
        result.append(line)
    return result


class Blurred(Dataset):
    def __init__(self, number):
        self.images = torch.rand(number, 80, 80)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, n):
        if n == 4:
            announce()
        return torch.tensor(blur(self.images[n].tolist(), radius=4))


def main():
    loader = DataLoader(Blurred(520), batch_size=2, num_workers=2, multiprocessing_context="spawn")
    sharpen = torch.nn.Conv2d(1, 1, 3, padding=1)
    optimizer = torch.optim.SGD(sharpen.parameters(), lr=0.1)
    for images in loader:
        loss = (sharpen(images.unsqueeze(1)) - 0.5).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
