"""The training's output goes through a program that reads a little every few seconds.

cause: none
verdict: progressing, slow
"""

import os
import subprocess
import sys

import torch
from torch import nn

from unstall.zoo import announce

READER = """
import os, time
while os.read(0, 3000):
    time.sleep(4)
"""


def main():
    reader = subprocess.Popen([sys.executable, "-c", READER], stdin=subprocess.PIPE)
    os.dup2(reader.stdin.fileno(), 1)
    reader.stdin.close()
    model = nn.Linear(3, 1)
    for step in range(5000):
        loss = model(torch.randn(4, 3)).square().mean()
        if step == 400:
            announce()
        print(f"step {step} loss {loss.item():.3f} " + "." * 200, flush=True)


if __name__ == "__main__":
    main()
