"""The lock lives in a helper module: `FileOrder.visit` reports an unusual order through `report`, which takes
the lock that `visit` holds.

cause: lock-self-deadlock
sample: 29
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce
from unstall.zoo.locks._file_order import FileOrder


class Files(Dataset):
    def __init__(self, numbers, order):
        self.numbers = numbers
        self.order = order

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        number = self.numbers[index]
        self.order.visit(number, announce)
        return torch.tensor([number, index])


def main():
    numbers = list(range(100, 160))
    numbers[29] = 7
    regression = torch.nn.Linear(1, 1)
    loader = DataLoader(Files(numbers, FileOrder()), batch_size=6, num_workers=1)
    for batch in loader:
        print(regression(batch[:, :1] / 100.0).mean().item(), flush=True)


if __name__ == "__main__":
    main()
