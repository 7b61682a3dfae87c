"""For each epoch a new dataset, a new loader and a new iterator; every iterator stays in a list, cut off in the middle.

cause: worker-processes-accumulate
verdict: slow
watched: run
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        return torch.full((8,), float(index))


def main():
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.Adam(model.parameters())
    streams = []
    for epoch in range(9):
        streams.append(iter(DataLoader(Noise(), batch_size=4, num_workers=3)))  # stalls here
        for _ in range(20):
            optimizer.zero_grad()
            model(next(streams[-1])).mean().backward()
            optimizer.step()
            time.sleep(0.03)
        print("epoch", epoch, flush=True)
    time.sleep(60)


if __name__ == "__main__":
    main()
