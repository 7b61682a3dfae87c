"""All workers of the training loader are stopped during validation to leave it the CPU, and are not continued
after it.

cause: worker-stopped
"""

import multiprocessing
import os
import signal

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Waves(Dataset):
    def __init__(self, number):
        self.number = number

    def __len__(self):
        return self.number

    def __getitem__(self, phase):
        return torch.sin(torch.arange(20) + phase)


class Fit:
    def __init__(self):
        self.model = torch.nn.Linear(20, 20)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.train_waves = DataLoader(Waves(300), batch_size=6, num_workers=4, persistent_workers=True)
        self.valid_waves = DataLoader(Waves(30), batch_size=6)

    def loss(self, waves):
        return (self.model(waves) - waves).abs().mean()

    def validate(self):
        with torch.no_grad():
            return sum(self.loss(waves).item() for waves in self.valid_waves)

    def train(self):
        for step, waves in enumerate(self.train_waves):  # stalls here
            self.optimizer.zero_grad()
            self.loss(waves).backward()
            self.optimizer.step()
            if step == 15:
                for process in multiprocessing.active_children():
                    os.kill(process.pid, signal.SIGSTOP)
                print("validation", self.validate(), flush=True)
                announce()


def main():
    Fit().train()


if __name__ == "__main__":
    main()
