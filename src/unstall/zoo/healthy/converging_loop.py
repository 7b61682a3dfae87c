"""A fixed point is iterated until the error is small; it takes a few hundred heavy rounds for each sample.

cause: none
verdict: progressing, slow
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def fixed_point(matrix, tolerance):
    x = torch.zeros(len(matrix))
    error = float("inf")
    while error > tolerance:
        previous = x
        for _ in range(200):
            x = 1 + 0.9998 * (matrix @ x)
        error = (x - previous).abs().max().item()
    return x


class Equilibria(Dataset):
    def __init__(self, number, size):
        self.number, self.size = number, size

    def __len__(self):
        return self.number

    def __getitem__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        matrix = torch.rand(self.size, self.size, generator=generator, dtype=torch.float64)
        matrix /= matrix.sum(1, keepdim=True)
        if seed == 2:
            announce()
        with torch.no_grad():
            return fixed_point(matrix.float(), tolerance=5e-1)[:8]


def main():
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    for batch in DataLoader(Equilibria(60, size=600), batch_size=2, num_workers=1):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        print("mean", batch.mean().item(), flush=True)


if __name__ == "__main__":
    main()
