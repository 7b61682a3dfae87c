"""An alarm that complains about slow checkpoints fires during a checkpoint. Its signal handler runs in the
main thread and wants the lock that the interrupted code of the same thread holds.

cause: lock-self-deadlock
"""

import os
import signal
import tempfile
import threading
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Checkpoints:
    def __init__(self, folder, slow_after):
        self.folder = folder
        self.slow_after = slow_after
        self.slow = []
        self.guard = threading.Lock()
        signal.signal(signal.SIGALRM, self.complain)

    def complain(self, signum, frame):
        announce()
        with self.guard:  # stalls here
            self.slow.append(time.time())

    def save(self, model, step):
        with self.guard:
            signal.setitimer(signal.ITIMER_REAL, self.slow_after)
            for name, tensor in model.state_dict().items():
                torch.save(tensor, os.path.join(self.folder, f"{step}-{name}.pt"))
                if step == 12:
                    time.sleep(2)
            signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    checkpoints = Checkpoints(tempfile.mkdtemp(), slow_after=1.0)
    loader = DataLoader(TensorDataset(torch.randn(256, 8)), batch_size=8, num_workers=1, persistent_workers=True)
    for step, (x,) in enumerate(loader):
        optimizer.zero_grad()
        model(x).abs().mean().backward()
        optimizer.step()
        if step % 4 == 0:
            print("saving step", step, flush=True)
            checkpoints.save(model, step)


if __name__ == "__main__":
    main()
