"""A collate class packs documents into rows of fixed capacity and goes on until all are placed.

One document is longer than a row, so it is never placed.

cause: infinite-loop-in-collate
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Corpus(Dataset):
    def __init__(self, sizes):
        self.sizes = sizes

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, i):
        return torch.arange(self.sizes[i])


class PackedRows:
    def __init__(self, capacity):
        self.capacity = capacity

    def __call__(self, documents):
        rows, open_documents = [], list(documents)
        if any(len(document) > self.capacity for document in documents):
            announce()
        self._fill(rows, open_documents)
        return torch.stack(rows)

    def _fill(self, rows, waiting):
        row = torch.zeros(self.capacity, dtype=torch.long)
        used = 0
        while waiting:  # stalls here
            fitting = [d for d in waiting if len(d) <= self.capacity - used]
            if fitting:
                row[used : used + len(fitting[0])] = fitting[0]
                used += len(fitting[0])
                waiting[:] = [d for d in waiting if d is not fitting[0]]
            elif used:
                rows.append(row.clone())
                used = 0
        rows.append(row)


def main():
    corpus = Corpus([30, 50, 64, 20, 10] * 6 + [65] + [12] * 20)
    loader = DataLoader(corpus, batch_size=5, num_workers=2, collate_fn=PackedRows(64), multiprocessing_context="spawn")
    embedding = torch.nn.EmbeddingBag(65, 3)
    optimizer = torch.optim.SGD(embedding.parameters(), lr=0.5)
    for rows in loader:
        optimizer.zero_grad()
        embedding(rows).pow(2).sum().backward()
        optimizer.step()
        print("packed", tuple(rows.shape), flush=True)


if __name__ == "__main__":
    main()
