"""A process renders scenes on request, over a two-way pipe. One scene crashes it; main keeps both ends open.

cause: queue-get-no-producer
sample: 7
"""

import multiprocessing
import os

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def render(requests):
    while True:
        scene = requests.recv()
        if scene == 7:
            os._exit(139)  # as a crash in a graphics driver would end it
        requests.send([scene / 10] * 4)


class Scenes(Dataset):
    def __init__(self):
        self.connection, self.other = multiprocessing.Pipe()
        self.renderer = multiprocessing.Process(target=render, args=(self.other,), daemon=True)
        self.renderer.start()

    def __len__(self):
        return 20

    def ask(self, scene):
        self.connection.send(scene)
        return self.connection.recv()  # stalls here

    def __getitem__(self, scene):
        if scene == 7:
            announce()
        return torch.tensor(self.ask(scene))


def main():
    layer = torch.nn.Linear(4, 1)
    for scenes in DataLoader(Scenes(), batch_size=4):
        layer(scenes).sum().backward()
        print(layer.weight.grad.norm().item(), flush=True)


if __name__ == "__main__":
    main()
