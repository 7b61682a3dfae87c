"""Each worker asks a helper program, over a pipe, for the length of a text. Somebody stops the program.

cause: worker-stopped
sample: 24
"""

import os
import signal
import subprocess
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

PROGRAM = "import sys\nfor line in sys.stdin: print(len(line), flush=True)"


class Lengths(Dataset):
    helper = None

    def __len__(self):
        return 60

    def program(self):
        if self.helper is None:
            pipe = subprocess.PIPE
            self.helper = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=pipe, stdout=pipe, text=True)
        return self.helper

    def ask(self, text):
        program = self.program()
        print(text, file=program.stdin, flush=True)
        return int(program.stdout.readline())  # stalls here

    def __getitem__(self, index):
        if index == 24:
            os.kill(self.program().pid, signal.SIGSTOP)
            announce()
        return torch.tensor([self.ask("a" * index) / 60])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for lengths in DataLoader(Lengths(), batch_size=6, num_workers=1):
        optimizer.zero_grad()
        (model(lengths) - lengths).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
