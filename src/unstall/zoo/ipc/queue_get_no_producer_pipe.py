"""A child sends results through a pipe and exits. The parent kept its copy of the sending end open, so `recv`
sees no end.

cause: queue-get-no-producer
sample: 28
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def render(sender, scenes):
    for scene in range(scenes):
        sender.send({"scene": scene, "light": scene % 7})
    sender.close()


class Rendered(Dataset):
    def __init__(self, scenes):
        self.receiver, self.sender = multiprocessing.Pipe(duplex=False)
        self.renderer = multiprocessing.Process(target=render, args=(self.sender, scenes))
        self.renderer.start()

    def __len__(self):
        return 40

    def __getitem__(self, scene):
        if scene == 28:
            self.renderer.join()
            announce()
        rendered = self.receiver.recv()  # stalls here
        return torch.tensor([rendered["light"] / 7]), torch.tensor([rendered["scene"] / 40])


def main():
    loader = DataLoader(Rendered(scenes=28), batch_size=2)
    lamp = torch.nn.Linear(1, 1)
    momentum = torch.optim.SGD(lamp.parameters(), lr=0.05, momentum=0.9)
    for light, scene in loader:
        momentum.zero_grad()
        loss = torch.nn.functional.mse_loss(lamp(light), scene)
        loss.backward()
        momentum.step()
        print(f"{loss.item():.4f}", end=" ")


if __name__ == "__main__":
    main()
