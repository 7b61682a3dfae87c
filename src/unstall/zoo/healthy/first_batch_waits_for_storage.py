"""Each worker waits 15 seconds for its storage before the first sample, then all goes well.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def mount(worker_id):
    if worker_id == 1:
        announce()
    time.sleep(15)


class Slowly:
    def __init__(self, inner, seconds):
        self.inner = inner
        self.seconds = seconds

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, position):
        time.sleep(self.seconds)
        return self.inner[position]


def main():
    data = Slowly(TensorDataset(torch.randn(240, 3)), seconds=0.2)
    loader = DataLoader(data, batch_size=6, num_workers=2, worker_init_fn=mount)
    layer = torch.nn.Linear(3, 3)
    rms = torch.optim.RMSprop(layer.parameters())
    for (x,) in loader:
        rms.zero_grad()
        torch.nn.functional.mse_loss(layer(x), x).backward()
        rms.step()
        print("norm", layer.weight.norm().item(), flush=True)


if __name__ == "__main__":
    main()
