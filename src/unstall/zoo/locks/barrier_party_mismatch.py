"""Workers meet at a barrier before they start. It was made for one party more than there are workers.

cause: barrier-party-mismatch
"""

import multiprocessing

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce

WORKERS = 2


class Meeting:
    def __init__(self, parties):
        self.barrier = multiprocessing.Barrier(parties)

    def __call__(self, worker_id):
        announce()
        self.barrier.wait()  # stalls here


def main():
    data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    loader = DataLoader(data, batch_size=8, num_workers=WORKERS, worker_init_fn=Meeting(WORKERS + 1))
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
