"""A consumer takes the checkpoints from a queue, and skips the broken ones without saying that they are done.

cause: queue-join-no-task-done
"""

import queue
import threading

import torch
from torch import nn

from unstall.zoo import announce


def upload(jobs, done):
    while True:
        job = jobs.get()
        if job is None:
            continue
        done.append(job["step"])
        jobs.task_done()


def main():
    model = nn.Linear(3, 1)
    jobs, done = queue.Queue(), []
    threading.Thread(target=upload, args=(jobs, done), daemon=True).start()
    for step in range(20):
        loss = model(torch.randn(4, 3)).square().mean()
        loss.backward()
        jobs.put({"step": step} if step % 6 else None)
    announce()
    jobs.join()  # stalls here
    print(len(done), "uploaded")


if __name__ == "__main__":
    main()
