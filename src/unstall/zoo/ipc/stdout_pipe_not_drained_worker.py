"""Workers print what they load. Who collects the output has stopped reading, and does something else for ever.

cause: stdout-pipe-not-drained
"""

import os
import subprocess
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

COLLECTOR = "import sys, threading; sys.stdin.read(1000); threading.Event().wait()"


class Verbose(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        if index == 50:
            announce()
        os.write(1, b"loading %d from the archive %s\n" % (index, b"." * 200))  # stalls here
        return torch.tensor([float(index)])


def main():
    collector = subprocess.Popen([sys.executable, "-c", COLLECTOR], stdin=subprocess.PIPE)
    os.dup2(collector.stdin.fileno(), 1)
    collector.stdin.close()
    model = torch.nn.Linear(1, 1)
    for batch in DataLoader(Verbose(), batch_size=4, num_workers=2):
        model(batch).sum().backward()


if __name__ == "__main__":
    main()
