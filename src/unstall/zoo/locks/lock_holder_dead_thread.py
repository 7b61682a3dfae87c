"""A thread refreshes the price list. A bad line raises an error between acquire() and release(), and the thread ends.

cause: lock-holder-dead
"""

import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Prices:
    def __init__(self, count):
        self.lock = threading.RLock()
        self.prices = [float(number) for number in range(count)]

    def refresh(self, lines):
        self.lock.acquire()
        self.prices = [float(line) for line in lines]
        self.lock.release()

    def of(self, article):
        with self.lock:  # stalls here
            return self.prices[article]


class Articles(Dataset):
    def __init__(self, prices):
        self.prices = prices

    def __len__(self):
        return len(self.prices.prices)

    def __getitem__(self, article):
        return torch.tensor([article / 100, self.prices.of(article)])


def main():
    threading.excepthook = lambda args: print("refresh failed:", args.exc_value, flush=True)
    prices = Prices(200)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    for step, batch in enumerate(DataLoader(Articles(prices), batch_size=10)):
        loss = (model(batch[:, :1]) - batch[:, 1:]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 6:
            refresher = threading.Thread(target=prices.refresh, args=(["12.5", "n/a"],))
            refresher.start()
            refresher.join()
            announce()


if __name__ == "__main__":
    main()
