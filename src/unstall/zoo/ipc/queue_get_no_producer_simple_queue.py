"""The main process hands out one seed per mesh before training; meshes added later have no seed.

cause: queue-get-no-producer
sample: 24
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class SeedDispenser:
    def __init__(self, context, number):
        self.box = context.SimpleQueue()
        self.number = number
        for seed in range(number):
            self.box.put(seed)

    def next_seed(self):
        return self.box.get()  # stalls here


class Jitter:
    def __init__(self, dispenser, amount):
        self.dispenser = dispenser
        self.amount = amount

    def __call__(self, points):
        generator = torch.Generator().manual_seed(self.dispenser.next_seed())
        return points + self.amount * torch.rand(points.shape, generator=generator)


class Meshes(Dataset):
    def __init__(self, number, transform):
        self.number = number
        self.transform = transform

    def __len__(self):
        return self.number

    def __getitem__(self, mesh):
        if mesh == self.transform.dispenser.number:
            announce()
        return self.transform(torch.linspace(0, 1, 4))


def main():
    context = multiprocessing.get_context("forkserver")
    meshes = Meshes(50, Jitter(SeedDispenser(context, 24), amount=0.1))
    loader = DataLoader(meshes, batch_size=4, num_workers=1, multiprocessing_context=context)
    line = torch.nn.Linear(4, 4)
    sgd = torch.optim.SGD(line.parameters(), lr=0.1)
    for batch in loader:
        sgd.zero_grad()
        (line(batch) - batch).square().mean().backward()
        sgd.step()
        print("gradient", line.weight.grad.norm().item(), flush=True)


if __name__ == "__main__":
    main()
