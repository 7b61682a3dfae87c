"""A sample is compared with a reference that has a wrong shape, and numpy broadcasts them to trillions of
values.

cause: native-code-runs-forever
sample: 25
"""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Similarity:
    def __init__(self, reference):
        self.reference = reference

    def __call__(self, signal):
        shape = np.broadcast_shapes(signal.shape, self.reference.shape)
        return np.broadcast_to(signal, shape).mean()  # stalls here


class Contrast:
    def __init__(self, score):
        self.score = score

    def __call__(self, signal):
        if signal.ndim > 1:
            announce()
        return np.float32(self.score(signal))


class Signals(Dataset):
    def __init__(self, signals, transform):
        self.signals = signals
        self.transform = transform

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, which):
        return self.transform(self.signals[which])


def main():
    signals = [np.linspace(0, 1 + n, 50) for n in range(40)]
    signals[25] = np.broadcast_to(signals[25], (10**7, 10**5, 50))
    dataset = Signals(signals, Contrast(Similarity(np.zeros(50))))
    loader = DataLoader(dataset, batch_size=4, num_workers=1)
    level = torch.zeros(1, requires_grad=True)
    for contrast in loader:
        loss = (contrast - level).square().mean()
        loss.backward()
        with torch.no_grad():
            level -= 0.2 * level.grad
        level.grad = None
        print("level", level.item(), flush=True)


if __name__ == "__main__":
    main()
