"""A launcher starts the training with its output in a pipe, and waits for its end before it reads.

cause: stdout-pipe-not-drained
"""

import os
import subprocess
import sys

import torch
from torch import nn

from unstall.zoo import announce

LAUNCHER = """
import os, select, sys
training = os.pidfd_open(int(sys.argv[2]))
select.select([training], [], [])
print(len(os.read(int(sys.argv[1]), 1 << 20)))
"""


def train():
    model = nn.Linear(3, 1)
    for step in range(5000):
        loss = model(torch.randn(4, 3)).square().mean()
        if step == 100:
            announce()
        print(f"step {step} loss {loss.item():.3f} " + "." * 80, flush=True)  # stalls here


def start_launcher():
    """It has the reading end, and waits until the training has ended."""
    reading, writing = os.pipe()
    subprocess.Popen([sys.executable, "-c", LAUNCHER, str(reading), str(os.getpid())], pass_fds=[reading])
    os.close(reading)
    os.dup2(writing, 1)
    os.close(writing)


def main():
    start_launcher()
    train()


if __name__ == "__main__":
    main()
