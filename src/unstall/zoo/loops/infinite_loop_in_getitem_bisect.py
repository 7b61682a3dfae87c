"""A hand-written binary search keeps `low = middle` instead of `middle + 1`.

It ends when it meets the exact time, and turns in place for a time that lies between two entries.

cause: infinite-loop-in-getitem
sample: 33
"""

import multiprocessing

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def find(times, wanted):
    low, high = 0, len(times) - 1
    while low < high:  # stalls here
        middle = (low + high) // 2
        if times[middle] == wanted:
            return middle
        if times[middle] < wanted:
            low = middle
        else:
            high = middle
    return low


class SensorWindows(Dataset):
    """Ten readings from the moment of each event on."""

    def __init__(self, events, times, readings):
        self.events, self.times, self.readings = events, times, readings

    def __len__(self):
        return len(self.events)

    def __getitem__(self, k):
        event = self.events[k]
        if k == 33:
            announce()
        begin = find(self.times, event)
        return torch.from_numpy(self.readings[begin : begin + 10])


def main():
    times = np.arange(0.0, 200.0, 0.5)
    events = times[10:120].copy()
    events[33] += 0.1
    readings = np.sin(times).astype(np.float32)
    context = multiprocessing.get_context("spawn")
    windows = DataLoader(
        SensorWindows(events, times, readings), batch_size=6, num_workers=1, multiprocessing_context=context
    )
    autoencoder = torch.nn.Linear(10, 10)
    adam = torch.optim.Adam(autoencoder.parameters())
    for window in windows:
        error = (autoencoder(window) - window).square().mean()
        adam.zero_grad()
        error.backward()
        adam.step()
        print(f"error {error.item():.4f}")


if __name__ == "__main__":
    main()
