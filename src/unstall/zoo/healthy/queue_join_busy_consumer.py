"""The training waits until a thread has written all predictions; that takes half a minute.

cause: none
verdict: progressing, slow
"""

import queue
import threading
import time

import torch

from unstall.zoo import announce


class Writer:
    def __init__(self):
        self.waiting = queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            self.write(self.waiting.get())
            self.waiting.task_done()

    def write(self, prediction):
        time.sleep(1.5)
        print(prediction, flush=True)


def main():
    model = torch.nn.Linear(3, 1)
    writer = Writer()
    for _ in range(20):
        writer.waiting.put(model(torch.randn(3)).item())
    announce()
    writer.waiting.join()


if __name__ == "__main__":
    main()
