"""A script that tidies up kills one worker in the middle of the training. The main process ends with an error that
does not always name the reason.

cause: worker-killed-by-signal
verdict: crashed
watched: run
"""

import multiprocessing
import os
import signal
import threading

import torch
from torch.utils.data import DataLoader, TensorDataset


def tidy_up(after):
    after.wait()
    os.kill(multiprocessing.active_children()[1].pid, signal.SIGKILL)  # stalls here


def main():
    inputs = torch.randn(40_000, 3)
    loader = DataLoader(TensorDataset(inputs, inputs.sum(1)), batch_size=4, num_workers=2)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters())
    enough = threading.Event()
    threading.Thread(target=tidy_up, args=(enough,), daemon=True).start()
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        (model(x).squeeze(1) - y).square().mean().backward()
        optimizer.step()
        if step == 50:
            enough.set()


if __name__ == "__main__":
    main()
