"""A metrics tool is polled every 50 ms until it has ended, and its long report sits in a pipe nobody reads.

cause: subprocess-pipe-full
"""

import subprocess
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def run_tool(lines):
    code = f"for n in range({lines}): print('class', n, 'precision 0.5 recall 0.5')"
    tool = subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE)
    if lines > 1000:
        announce()
    while tool.poll() is None:  # stalls here
        time.sleep(0.05)
    report, _ = tool.communicate()
    return report.count(b"\n")


def evaluate(model, loader, classes):
    with torch.no_grad():
        score = sum(model(x).argmax(1).eq(y).sum().item() for x, y in loader)
    return score, run_tool(classes)


def main():
    data = TensorDataset(torch.randn(64, 6), torch.randint(3, (64,)))
    train_loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=1)
    test_loader = DataLoader(data, batch_size=32)
    model = torch.nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch, classes in enumerate([3, 30, 30_000, 30]):
        for x, y in train_loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, evaluate(model, test_loader, classes), flush=True)


if __name__ == "__main__":
    main()
