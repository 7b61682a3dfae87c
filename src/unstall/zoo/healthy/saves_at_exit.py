"""When the training is done, it compresses its history at the exit: that takes half a minute.

cause: none
verdict: progressing, slow
"""

import atexit
import time

import torch

from unstall.zoo import announce


class History:
    def __init__(self):
        self.losses = []
        atexit.register(self.save)

    def save(self):
        announce()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            self.losses = [round(one, 9) for one in self.losses]
            time.sleep(0.05)
        for _ in range(5):
            time.sleep(2)


def main():
    history = History()
    model = torch.nn.Linear(4, 1)
    for _ in range(40):
        loss = model(torch.randn(8, 4)).square().mean()
        loss.backward()
        history.losses.append(loss.item())


if __name__ == "__main__":
    main()
