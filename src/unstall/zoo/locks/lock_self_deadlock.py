"""While it holds the lock of the cache, `__getitem__` takes the same lock again to count an empty record. A
`multiprocessing.Lock` can't be taken twice, not even by its own holder.

cause: lock-self-deadlock
sample: 20
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Records(Dataset):
    def __init__(self, lengths):
        self.lengths = lengths
        self.lock = multiprocessing.Lock()
        self.empty = multiprocessing.Value("i", 0, lock=False)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        with self.lock:
            length = self.lengths[index]
            if length == 0:
                announce()
                with self.lock:  # stalls here
                    self.empty.value += 1
            return torch.full((4,), float(length))


def main():
    lengths = [3 + i % 5 for i in range(64)]
    lengths[20] = 0
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, batch in enumerate(DataLoader(Records(lengths), batch_size=4, num_workers=2)):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
