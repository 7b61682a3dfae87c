"""A hook stops the second worker at its start so that a debugger can be attached, and nobody attaches one.

cause: worker-stopped
"""

import signal

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Ramp(Dataset):
    def __init__(self, number):
        self.values = torch.linspace(-1, 1, number)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, n):
        return self.values[n], self.values[n] ** 3


class DebugHook:
    def __init__(self, worker):
        self.worker = worker

    def wait_for_debugger(self):
        announce()
        signal.raise_signal(signal.SIGSTOP)  # stalls here

    def __call__(self, worker_id):
        torch.manual_seed(worker_id)
        if worker_id == self.worker:
            self.wait_for_debugger()


def main():
    loader = DataLoader(
        Ramp(120),
        batch_size=10,
        num_workers=2,
        worker_init_fn=DebugHook(worker=1),
        multiprocessing_context="forkserver",
    )
    cubic = torch.nn.Parameter(torch.zeros(()))
    optimizer = torch.optim.SGD([cubic], lr=0.5)
    for x, y in loader:
        loss = (cubic * x**3 - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("factor", cubic.item(), flush=True)


if __name__ == "__main__":
    main()
