"""The journal locks its two files in the order in which its caller names them. The main process names them
the other way round than the worker.

cause: lock-order-inversion
"""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Journal:
    def __init__(self, context):
        self.locks = {"samples": context.Lock(), "losses": context.Lock()}
        self.started = {"samples": context.Event(), "losses": context.Event()}

    def copy(self, source, target, careful=False):
        with self.locks[source]:
            if careful:
                self.started[source].set()
                self.started[target].wait()
            with self.locks[target]:  # stalls here
                return f"{source} -> {target}"


class Journalled(Dataset):
    def __init__(self, journal):
        self.journal = journal

    def __len__(self):
        return 80

    def __getitem__(self, index):
        if index % 25 == 24:
            self.journal.copy("samples", "losses", careful=index == 49)
        return torch.randn(3), torch.tensor(index % 2)


def main():
    context = multiprocessing.get_context("forkserver")
    journal = Journal(context)
    loader = DataLoader(Journalled(journal), batch_size=4, num_workers=1, multiprocessing_context=context)
    classifier = torch.nn.Linear(3, 2)
    for step, (inputs, labels) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(classifier(inputs), labels)
        print(f"step {step}: {loss.item():.3f}", flush=True)
        if step == 10:
            journal.started["samples"].wait()
            announce()
            print(journal.copy("losses", "samples", careful=True), flush=True)


if __name__ == "__main__":
    main()
