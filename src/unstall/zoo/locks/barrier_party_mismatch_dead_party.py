"""Two helper processes and the main one train in step. One helper has run out of batches and has ended.

cause: barrier-party-mismatch
"""

import multiprocessing

import torch
from torch import nn

from unstall.zoo import announce


def helper(batches, step_done, results):
    for number in range(batches):
        results.put(torch.full((3,), float(number)).numpy())
        step_done.wait()


def main():
    context = multiprocessing.get_context("fork")
    step_done = context.Barrier(3)
    results = context.Queue()
    for batches in (12, 4):
        context.Process(target=helper, args=(batches, step_done, results), daemon=True).start()
    model = nn.Linear(3, 1)
    for step in range(12):
        batch = torch.tensor(results.get())
        model(batch).sum().backward()
        if step == 4:
            announce()
        step_done.wait()  # stalls here
        print("step", step, flush=True)


if __name__ == "__main__":
    main()
