"""A program sorts the events of a recording. Its input pipe is not closed where a recording has no end mark.

cause: subprocess-waits-for-stdin
sample: 5
"""

import subprocess

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Sorter:
    def __init__(self):
        self.child = subprocess.Popen(["sort", "-n"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def feed(self, events):
        for event in events:
            if event is None:
                self.child.stdin.close()
                return
            self.child.stdin.write(f"{event}\n")
        self.child.stdin.flush()

    def result(self):
        lines = self.child.stdout.read().split()  # stalls here
        self.child.wait()
        return [int(line) for line in lines]


class Recordings(Dataset):
    def __init__(self, recordings):
        self.recordings = recordings

    def __len__(self):
        return len(self.recordings)

    def __getitem__(self, number):
        sorter = Sorter()
        sorter.feed(self.recordings[number])
        if None not in self.recordings[number]:
            announce()
        return torch.tensor(sorter.result()).float()


def main():
    recordings = [[3, 1, 2, None]] * 5 + [[3, 1, 2]] + [[2, 1, 3, None]] * 6
    layer = torch.nn.Linear(3, 1)
    for events in DataLoader(Recordings(recordings), batch_size=2, num_workers=2):
        loss = layer(events).square().mean()
        loss.backward()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
