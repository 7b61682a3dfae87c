"""A heartbeat thread sleeps in a `while True` loop, and a lock guards the counter. The training is well.

cause: none
verdict: progressing
"""

import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

lock = threading.Lock()
counter = {"steps": 0}


def heartbeat():
    while True:
        with lock:
            print("alive at step", counter["steps"], flush=True)
        time.sleep(10)


class Angles(Dataset):
    def __len__(self):
        return 900

    def __getitem__(self, degree):
        time.sleep(0.01)
        return torch.tensor([degree / 180 * torch.pi])


def main():
    threading.Thread(target=heartbeat, daemon=True).start()
    sine = torch.nn.Sequential(torch.nn.Linear(1, 24), torch.nn.Tanh(), torch.nn.Linear(24, 1))
    optimizer = torch.optim.Adam(sine.parameters(), lr=1e-2)
    loader = DataLoader(Angles(), batch_size=30, shuffle=True, num_workers=1, persistent_workers=True)
    for epoch in range(5):
        for angle in loader:
            optimizer.zero_grad()
            (sine(angle) - angle.sin()).square().mean().backward()
            optimizer.step()
            with lock:
                counter["steps"] += 1
                if counter["steps"] == 10:
                    announce()


if __name__ == "__main__":
    main()
