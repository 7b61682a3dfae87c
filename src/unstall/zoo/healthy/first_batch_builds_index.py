"""Before the first sample each worker builds its index in plain Python, which takes about 15 seconds.

cause: none
verdict: progressing, slow
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

from unstall.zoo import announce


class Indexed(Dataset):
    def __init__(self, number):
        self.number = number
        self.index = None

    def build(self):
        index = {}
        begin = time.process_time()
        line = 0
        while time.process_time() - begin < 15:
            index[line % 50_000] = sum(divmod(line, 97))
            line += 1
        return index

    def __len__(self):
        return self.number

    def __getitem__(self, entry):
        if self.index is None:
            if get_worker_info().id == 0:
                announce()
            self.index = self.build()
        time.sleep(0.2)
        return torch.tensor([float(self.index[entry])])


def main():
    loader = DataLoader(Indexed(200), batch_size=4, num_workers=2)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    for step, batch in enumerate(loader):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        print("step", step, flush=True)


if __name__ == "__main__":
    main()
