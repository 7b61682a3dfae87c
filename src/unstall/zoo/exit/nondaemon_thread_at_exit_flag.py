"""A thread watches the memory until it is told to stop. The training forgets to tell it.

cause: nondaemon-thread-at-exit
"""

import threading
import time

import torch
from torch import nn

from unstall.zoo import announce


class MemoryWatch(threading.Thread):
    def __init__(self, every):
        super().__init__(name="memory")
        self.every = every
        self.stopped = False
        self.peaks = [0]

    def run(self):
        while not self.stopped:
            with open("/proc/self/statm") as file:
                self.peaks.append(int(file.read().split()[1]))
            time.sleep(self.every)  # stalls here

    def stop(self):
        self.stopped = True


def main():
    watch = MemoryWatch(0.5)
    watch.start()
    model = nn.Linear(4, 1)
    for step in range(40):
        loss = model(torch.randn(8, 4)).square().mean()
        loss.backward()
    print("training done, peak", max(watch.peaks), flush=True)
    announce()


if __name__ == "__main__":
    main()
