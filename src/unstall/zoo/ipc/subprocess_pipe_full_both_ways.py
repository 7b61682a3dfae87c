"""A whole text is written to a filter before anything is read from it. Both pipes fill up, and each side
waits for the other.

cause: subprocess-pipe-full
sample: 19
"""

import subprocess
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

FILTER = "import sys\nfor line in sys.stdin: sys.stdout.write(line.swapcase())"


def swap_case(text):
    tool = subprocess.Popen(
        [sys.executable, "-S", "-c", FILTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    if len(text) > 10_000:
        announce()
    tool.stdin.write(text)  # stalls here
    tool.stdin.close()
    answer = tool.stdout.read()
    tool.stdout.close()
    tool.wait()
    return answer


class Books(Dataset):
    def __init__(self, books, tool):
        self.books = books
        self.tool = tool

    def __len__(self):
        return len(self.books)

    def __getitem__(self, n):
        swapped = self.tool(self.books[n])
        return torch.tensor([swapped.count("A"), swapped.count("b")], dtype=torch.float32)


def main():
    books = ["a little\nBook\n" * 5] * 19 + ["a long and winding\nBook\n" * 40_000] + ["a b\n"] * 12
    loader = DataLoader(Books(books, swap_case), batch_size=2, num_workers=2, multiprocessing_context="forkserver")
    ratio = torch.nn.Parameter(torch.tensor(0.5))
    optimizer = torch.optim.SGD([ratio], lr=1e-4)
    for counts in loader:
        loss = (counts[:, 0] * ratio - counts[:, 1]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("ratio", ratio.item(), flush=True)


if __name__ == "__main__":
    main()
