"""Log lines are streamed and searched with a global pattern; a long line without the closing quote never
comes to an end.

cause: regex-catastrophic-backtracking
"""

import re

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce

QUOTED = re.compile(r'"(?:[^"\\]+|\\.)*"')


class LogStream(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        for line in self.lines:
            if line.count('"') % 2:
                announce()
            found = QUOTED.search(line)  # stalls here
            yield torch.tensor([float(len(line)), float(found.end() if found else 0)])


def main():
    lines = [f'{n} said "all is well at {n}"' for n in range(40)]
    lines.append('40 said "' + "nothing happened here " * 4)
    lines += ['41 said "bye"'] * 20
    loader = DataLoader(LogStream(lines), batch_size=8, num_workers=1)
    gain = torch.nn.Parameter(torch.ones(()))
    descent = torch.optim.SGD([gain], lr=1e-5)
    for batch in loader:
        loss = (gain * batch[:, 0] - batch[:, 1]).abs().mean()
        descent.zero_grad()
        loss.backward()
        descent.step()
        print(f"gain {gain.item():.5f}", flush=True)


if __name__ == "__main__":
    main()
