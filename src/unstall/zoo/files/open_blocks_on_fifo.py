"""One of the listed files is a named pipe that nobody writes to. Opening it for reading waits for a writer.

cause: open-blocks-on-fifo
sample: 14
"""

import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class TextFiles(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if index == 14:
            announce()
        with open(self.paths[index]) as file:  # stalls here
            return len(file.read())


def main():
    folder = tempfile.mkdtemp()
    paths = [os.path.join(folder, f"{n}.txt") for n in range(30)]
    for n, path in enumerate(paths):
        if n == 14:
            os.mkfifo(path)
        else:
            with open(path, "w") as file:
                file.write("word " * n)
    average = torch.nn.Linear(1, 1)
    for lengths in DataLoader(TextFiles(paths), batch_size=3, num_workers=2):
        print(average(lengths.float()[:, None]).mean().item(), flush=True)


if __name__ == "__main__":
    main()
