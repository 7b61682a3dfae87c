"""The validation goes over the dataset itself. Its samples are cut from a long recording, with the index wrapped around.

cause: iterating-dataset-without-end
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Windows(Dataset):
    def __init__(self, recording, width):
        self.recording, self.width = recording, width

    def __len__(self):
        return len(self.recording) // self.width

    def __getitem__(self, index):
        if index == 500:
            announce()
        start = index * self.width % len(self.recording)
        return torch.tensor(self.recording[start : start + self.width])


def main():
    data = Windows([number / 1000 for number in range(1000)], 8)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x in DataLoader(torch.utils.data.Subset(data, range(100)), batch_size=4):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    total = 0.0
    with torch.no_grad():
        for x in data:  # stalls here
            total += float(model(x))
    print(total / len(data))


if __name__ == "__main__":
    main()
