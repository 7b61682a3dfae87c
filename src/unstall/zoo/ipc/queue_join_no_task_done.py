"""A thread writes predictions to disk. It fails at the fifth, and the training waits until all are written.

cause: queue-join-no-task-done
"""

import queue
import threading

import torch
from torch import nn

from unstall.zoo import announce


class Writer:
    def __init__(self):
        self.waiting = queue.Queue()
        threading.excepthook = self.report
        threading.Thread(target=self.run, daemon=True).start()

    def report(self, failure):
        print(failure.exc_value, flush=True)
        announce()

    def run(self):
        while True:
            number, prediction = self.waiting.get()
            print(number, 1 / (prediction[0] - 4), flush=True)
            self.waiting.task_done()

    def finish(self):
        self.waiting.join()  # stalls here


def main():
    model = nn.Linear(3, 1)
    writer = Writer()
    for step in range(20):
        loss = model(torch.randn(4, 3)).square().mean()
        loss.backward()
        writer.waiting.put((step, [step]))
    writer.finish()
    print("done")


if __name__ == "__main__":
    main()
