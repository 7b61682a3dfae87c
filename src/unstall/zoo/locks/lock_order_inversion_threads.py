"""The training thread takes the metrics lock inside the weights lock; the thread that publishes metrics takes
the weights lock inside the metrics lock. Both in one process.

cause: lock-order-inversion
"""

import threading

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Publisher(threading.Thread):
    def __init__(self, fit):
        super().__init__(daemon=True, name="publisher")
        self.fit = fit
        self.due = threading.Event()
        self.collecting = threading.Event()

    def run(self):
        self.due.wait()
        with self.fit.metrics_lock:
            self.collecting.set()
            losses = list(self.fit.losses)
            self.fit.updating.wait()
            with self.fit.weights_lock:
                norm = self.fit.model.weight.norm().item()
            print(f"published {len(losses)} losses, norm {norm:.2f}", flush=True)


class Fit:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.weights_lock = threading.Lock()
        self.metrics_lock = threading.RLock()
        self.updating = threading.Event()
        self.losses = []
        self.publisher = Publisher(self)

    def __call__(self, loader):
        self.publisher.start()
        for step, (inputs, targets) in enumerate(loader):
            if step == 9:
                self.publisher.due.set()
                self.publisher.collecting.wait()
            self.training_step(inputs, targets)

    def training_step(self, inputs, targets):
        with self.weights_lock:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(inputs), targets)
            loss.backward()
            self.optimizer.step()
            self.record(loss.item())

    def record(self, value):
        if self.publisher.collecting.is_set():
            self.updating.set()
            announce()
        with self.metrics_lock:  # stalls here
            self.losses.append(value)
            print(f"{len(self.losses)}: {value:.3f}", flush=True)


def main():
    data = TensorDataset(torch.randn(160, 4), torch.randn(160, 2))
    Fit(torch.nn.Linear(4, 2))(DataLoader(data, batch_size=8, shuffle=True, num_workers=1))


if __name__ == "__main__":
    main()
