"""A helper function tries `lockf` without blocking until it gets the lock. The training process wants the lock
of the results file after each epoch; a plotting script has it.

cause: file-lock-held
"""

import fcntl
import subprocess
import sys
import tempfile
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce

PLOTTER = """
import fcntl, sys
results = open(sys.argv[1], "r+")
fcntl.lockf(results, fcntl.LOCK_EX)
print("plotting", flush=True)
sys.stdin.read()
"""


def got_lock(file):
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def append(path, row):
    with open(path, "a") as results:
        while not got_lock(results):  # stalls here
            time.sleep(0.25)
        results.write(row + "\n")


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as results:
        results.write("epoch,loss\n")
    model = torch.nn.Linear(4, 1)
    loader = DataLoader(TensorDataset(torch.randn(60, 4)), batch_size=6, shuffle=True)
    for epoch in range(3):
        for (inputs,) in loader:
            loss = model(inputs).square().mean()
            print(epoch, loss.item(), flush=True)
        if epoch == 1:
            command = [sys.executable, "-c", PLOTTER, results.name]
            plotter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            plotter.stdout.readline()
            announce()
        append(results.name, f"{epoch},{loss.item()}")


if __name__ == "__main__":
    main()
