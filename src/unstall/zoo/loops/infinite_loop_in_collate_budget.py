"""A limit on sentence length is lowered by a tenth until the batch fits its token budget.

Below ten, a tenth is zero in whole numbers, and the limit stays where it is.

cause: infinite-loop-in-collate
"""

import torch
from torch.utils.data import DataLoader

from unstall.zoo import announce

TOKEN_BUDGET = 100


def trim(sentences):
    limit = max(map(len, sentences))
    if len(sentences) * 9 > TOKEN_BUDGET:
        announce()
    while sum(min(len(s), limit) for s in sentences) > TOKEN_BUDGET:  # stalls here
        limit -= limit // 10
    return [s[:limit] for s in sentences]


def collate(pairs):
    sources, labels = zip(*pairs, strict=True)
    return torch.nn.utils.rnn.pad_sequence(trim(sources), batch_first=True), torch.tensor(labels)


def train_one_epoch(loader, model, optimizer):
    for tokens, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{len(tokens)} sentences, loss {loss.item():.3f}")


def main():
    generator = torch.Generator().manual_seed(5)
    pairs = [(torch.randint(1, 50, (10 + i % 30,), generator=generator), i % 2) for i in range(72)]
    batches = [list(range(k, k + 4)) for k in range(0, 48, 4)] + [list(range(48, 72))]
    model = torch.nn.Sequential(torch.nn.EmbeddingBag(50, 8), torch.nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    train_one_epoch(DataLoader(pairs, batch_sampler=batches, collate_fn=collate), model, optimizer)


if __name__ == "__main__":
    main()
