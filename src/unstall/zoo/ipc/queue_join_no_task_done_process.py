"""A process takes jobs from a JoinableQueue and reports each; it has died of a broken job.

cause: queue-join-no-task-done
"""

import multiprocessing

import torch
from torch import nn

from unstall.zoo import announce


def work(jobs):
    while True:
        number = jobs.get()
        print(100 // (number - 7), flush=True)
        jobs.task_done()


def main():
    jobs = multiprocessing.JoinableQueue()
    helper = multiprocessing.Process(target=work, args=(jobs,), daemon=True)
    helper.start()
    model = nn.Linear(2, 1)
    for step in range(12):
        model(torch.randn(4, 2)).sum().backward()
        jobs.put(step)
    helper.join(30)
    announce()
    jobs.join()  # stalls here
    print("all done")


if __name__ == "__main__":
    main()
