"""The training is done, and a thread still uploads the last checkpoint, in parts: half a minute.

cause: none
verdict: progressing, slow
"""

import queue
import threading
import time

import torch

from unstall.zoo import announce


class Uploader:
    def __init__(self):
        self.jobs = queue.Queue()
        self.sent = 0
        threading.Thread(target=self.run).start()

    def run(self):
        while True:
            job = self.jobs.get()
            if job is None:
                return
            self.upload(job)

    def upload(self, parts):
        for part in range(parts):
            time.sleep(2)
            self.sent += part


def main():
    uploader = Uploader()
    model = torch.nn.Linear(4, 1)
    for _ in range(40):
        model(torch.randn(8, 4)).sum().backward()
    uploader.jobs.put(15)
    uploader.jobs.put(None)
    announce()


if __name__ == "__main__":
    main()
