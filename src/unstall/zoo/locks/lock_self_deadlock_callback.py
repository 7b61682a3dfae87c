"""A progress board calls its `on_milestone` callback while it holds its own lock, and the callback writes to
the board. It happens in the collate function, so it belongs to a whole batch.

cause: lock-self-deadlock
"""

import multiprocessing as mp

import torch
from torch.utils.data import DataLoader, TensorDataset, default_collate

from unstall.zoo import announce


class ProgressBoard:
    def __init__(self, on_milestone, every):
        self.seen = mp.Value("q", 0, lock=False)
        self.screen = mp.Lock()
        self.on_milestone = on_milestone
        self.every = every

    def advance(self, count):
        with self.screen:
            before = self.seen.value // self.every
            self.seen.value += count
            if self.seen.value // self.every > before:
                announce()
                self.on_milestone(self)

    def write(self, text):
        with self.screen:  # stalls here
            print(text, flush=True)


def celebrate(board):
    board.write(f"{board.seen.value} samples collated")


class CountingCollate:
    def __init__(self, board):
        self.board = board

    def __call__(self, samples):
        self.board.advance(len(samples))
        return default_collate(samples)


def main():
    board = ProgressBoard(celebrate, every=60)
    data = TensorDataset(torch.randn(200, 6), torch.randn(200))
    loader = DataLoader(data, batch_size=5, num_workers=4, collate_fn=CountingCollate(board), shuffle=True)
    weights = torch.zeros(6, requires_grad=True)
    for inputs, targets in loader:
        error = (inputs @ weights - targets).pow(2).mean()
        error.backward()
        with torch.no_grad():
            weights -= 0.05 * weights.grad
        weights.grad = None
        print(f"error {error.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
