"""Pollard's method looks for a factor of a large number: its test stays the same for seconds, until one is found.

cause: none
verdict: progressing, slow, finished
"""

import math

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


def smallest_cycle_factor(number):
    slow = fast = 2
    factor = 1
    while factor == 1:
        slow = (slow * slow + 1) % number
        fast = (fast * fast + 1) % number
        fast = (fast * fast + 1) % number
        factor = math.gcd(abs(slow - fast), number)
    return factor


class Semiprimes(Dataset):
    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, place):
        number = self.numbers[place]
        if number > 10**20:
            announce()
        return torch.tensor(smallest_cycle_factor(number), dtype=torch.float64).log()


def main():
    hard = 10000000000037 * 10000000000051
    numbers = [1000003 * 1000033] * 6 + [hard] * 6
    net = torch.nn.Linear(1, 1, dtype=torch.float64)
    sgd = torch.optim.SGD(net.parameters(), lr=1e-4)
    for logs in DataLoader(Semiprimes(numbers), batch_size=1, num_workers=1):
        sgd.zero_grad()
        net(logs[:, None]).square().sum().backward()
        sgd.step()
        print("factor", logs.exp().item(), flush=True)


if __name__ == "__main__":
    main()
