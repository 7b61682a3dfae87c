"""A token-budget sampler rolls back when a batch becomes too large; with the smaller budget of epoch two it
rolls back for ever.

cause: sampler-stuck
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Utterances(Dataset):
    def __init__(self, durations):
        self.durations = durations

    def __len__(self):
        return len(self.durations)

    def __getitem__(self, number):
        return torch.sin(torch.arange(self.durations[number]) / 7.0)


class BudgetSampler:
    def __init__(self, durations, budget):
        self.durations = durations
        self.budget = budget

    def set_epoch(self, epoch):
        self.budget = 400 if epoch == 0 else 150

    def next_batch(self, start):
        end = start
        cost = 0
        if self.budget < self.durations[start]:
            announce()
        while end < len(self.durations):  # stalls here
            cost += self.durations[end]
            end += 1
            if cost > self.budget:
                end -= 1
                cost -= self.durations[end]
                if end > start:
                    break
        return list(range(start, end))

    def __iter__(self):
        start = 0
        while start < len(self.durations):
            batch = self.next_batch(start)
            start += len(batch)
            yield batch


def pad(waves):
    return torch.nn.utils.rnn.pad_sequence(waves, batch_first=True)


def main():
    durations = [40, 60, 80, 100] * 6 + [160] + [50] * 10
    sampler = BudgetSampler(durations, budget=400)
    loader = DataLoader(
        Utterances(durations), batch_sampler=sampler, num_workers=2, persistent_workers=True, collate_fn=pad
    )
    filters = torch.nn.Conv1d(1, 2, 5)
    optimizer = torch.optim.SGD(filters.parameters(), lr=0.01)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for waves in loader:
            loss = filters(waves.unsqueeze(1)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
