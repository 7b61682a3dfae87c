"""The training's log goes through a filter, which somebody has stopped.

cause: stdout-pipe-not-drained
"""

import os
import signal
import subprocess

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def pipe_log_through(command):
    filter_ = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    os.dup2(filter_.stdin.fileno(), 1)
    os.dup2(1, 2)
    filter_.stdin.close()
    return filter_


def main():
    filter_ = pipe_log_through(["cat"])
    model = nn.Linear(3, 1)
    for step, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(4000, 3)), batch_size=2)):
        loss = model(x).square().mean()
        loss.backward()
        if step == 200:
            os.kill(filter_.pid, signal.SIGSTOP)
            announce()
        print(f"step {step} loss {loss.item():.3f} weights {model.weight.tolist()}", flush=True)  # stalls here


if __name__ == "__main__":
    main()
