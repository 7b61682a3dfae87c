"""Every document locks the sources that it quotes, in the order of the quotes, with an `ExitStack`. Two
documents that quote each other's sources meet in two spawned workers.

cause: lock-order-inversion
"""

import multiprocessing
from contextlib import ExitStack

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from unstall.zoo import announce


class Library:
    def __init__(self, context, names):
        self.locks = {name: context.Lock() for name in names}
        self.reading = {name: context.Event() for name in names}

    def quote(self, names):
        with ExitStack() as opened:
            for position, name in enumerate(names):
                opened.enter_context(self.locks[name])  # stalls here
                self.reading[name].set()
                if position == 0 and len(names) > 1:
                    self.reading[names[1]].wait()
                    if name == "plato":
                        announce()
            return torch.tensor([len(name) for name in names[:1]])


class Documents(IterableDataset):
    def __init__(self, library, documents):
        self.library = library
        self.documents = documents

    def __iter__(self):
        worker = get_worker_info()
        for names in self.documents[worker.id :: worker.num_workers]:
            yield self.library.quote(names)


def main():
    context = multiprocessing.get_context("spawn")
    library = Library(context, ["plato", "homer", "sappho", "hesiod"])
    documents = [["sappho"], ["hesiod"]] * 6 + [["plato", "homer"], ["homer", "plato"]] + [["hesiod"]] * 6
    loader = DataLoader(Documents(library, documents), batch_size=2, num_workers=2, multiprocessing_context=context)
    for number, lengths in enumerate(loader):
        print(number, lengths.flatten().tolist(), flush=True)


if __name__ == "__main__":
    main()
