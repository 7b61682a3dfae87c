"""A slow external tool runs ten seconds for each large sample, and its output is read as it should be.

cause: none
verdict: progressing, slow
"""

import subprocess
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

TOOL = """
import sys, time
for number in range(int(sys.argv[1])):
    print(number, "x" * 200_000)
    time.sleep(1)
"""


class Converted(Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return len(self.seconds)

    def __getitem__(self, n):
        if n == 4:
            announce()
        command = [sys.executable, "-S", "-c", TOOL, str(self.seconds[n])]
        result = subprocess.run(command, capture_output=True, check=True, text=True)
        return torch.tensor([float(len(result.stdout)) / 200_000])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for sizes in DataLoader(Converted([1, 1, 1, 1, 10, 10, 10, 10, 10, 10]), batch_size=2, num_workers=2):
        optimizer.zero_grad()
        (model(sizes) - 1).square().mean().backward()
        optimizer.step()
        print(sizes.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
