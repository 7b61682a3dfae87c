"""The thread that tokenises ahead of the training dies on a broken line. Its traceback scrolls by, and the
training waits.

cause: queue-get-no-producer
"""

import queue
import threading

import torch

from unstall.zoo import announce


class Prefetcher:
    def __init__(self, lines, depth):
        self.lines = lines
        self.ready = queue.Queue(maxsize=depth)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        for line in self.lines:
            self.ready.put(torch.tensor([float(word) for word in line.split(",")]))

    def __iter__(self):
        for number in range(len(self.lines)):
            if number == 60:
                announce()
            yield self.ready.get()  # stalls here


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, source):
        for number, row in enumerate(source):
            self.training_step(number, row)

    def training_step(self, number, row):
        loss = (self.model(row[:-1]) - row[-1]).square().sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        print(number, loss.item(), flush=True)


def main():
    lines = [f"{n}.0,{n + 1}.5,{n % 3}" for n in range(150)]
    lines[60] = "60.0,n/a,0"
    Trainer(torch.nn.Linear(2, 1)).fit(Prefetcher(lines, depth=4))


if __name__ == "__main__":
    main()
