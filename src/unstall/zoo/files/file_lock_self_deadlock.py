"""`__getitem__` locks the statistics file, then calls a function that opens the same file again and locks it
again. A `flock` belongs to the open file, so the second one waits for the first of its own process.

cause: file-lock-self-deadlock
sample: 9
"""

import fcntl
import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def append_line(path, line):
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # stalls here
        file.write(line + "\n")


class Measurements(Dataset):
    def __init__(self, values, report):
        self.values = values
        self.report = report

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        value = self.values[index]
        if value < 0:
            with open(self.report, "r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if "negative" not in file.read():
                    announce()
                    append_line(self.report, f"negative value at {index}")
        return torch.tensor(value)


def main():
    report = os.path.join(tempfile.mkdtemp(), "report.txt")
    append_line(report, "begin")
    values = [float(n) for n in range(32)]
    values[9] = -1.0
    for batch in DataLoader(Measurements(values, report), batch_size=4, num_workers=2):
        print(batch.mean().item(), flush=True)


if __name__ == "__main__":
    main()
