"""Somebody pauses one worker from outside while the training runs, as a debugger or a careless `kill -STOP`
would.

cause: worker-stopped
"""

import multiprocessing
import os
import signal

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def main():
    inputs = torch.randn(400, 5)
    data = TensorDataset(inputs, inputs.norm(dim=1))
    loader = DataLoader(data, batch_size=8, num_workers=2, multiprocessing_context="spawn")
    model = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step, (x, y) in enumerate(loader):  # stalls here
        loss = torch.nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step, "loss", round(loss.item(), 4), flush=True)
        if step == 9:
            worker = multiprocessing.active_children()[0]
            os.kill(worker.pid, signal.SIGSTOP)
            announce()


if __name__ == "__main__":
    main()
