"""One record in ten is large and is read in small chunks, ten seconds in all.

cause: none
verdict: progressing, slow
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce
from unstall.zoo.healthy._slow_disk import read_all


class Recordings(Dataset):
    def __init__(self, sizes):
        self.sizes = sizes

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, take):
        if take == 9:
            announce()
        data = read_all(self.sizes[take])
        return torch.frombuffer(data, dtype=torch.uint8)[:64].float()


def main():
    recordings = Recordings(([64] * 9 + [100_000]) * 7)
    loader = DataLoader(recordings, batch_size=2, num_workers=2, persistent_workers=True)
    model = torch.nn.Linear(64, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number, sound in enumerate(loader):
        optimizer.zero_grad()
        (model(sound) - 1).square().mean().backward()
        optimizer.step()
        print("batch", number, flush=True)


if __name__ == "__main__":
    main()
