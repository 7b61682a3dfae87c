"""A simulator process feeds an endless stream; it stops after 100 games, and the stream has no sign for the
end.

cause: queue-get-no-producer
"""

import multiprocessing as mp

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


def simulate(games, number):
    for game in range(number):
        games.put([float(game), game * 0.5])


class Games(IterableDataset):
    def __init__(self, games):
        self.games = games

    def __iter__(self):
        received = 0
        while True:
            if received == 100:
                announce()
            game = self.games.get()  # stalls here
            received += 1
            yield torch.tensor(game)


def main():
    context = mp.get_context("spawn")
    games = context.Queue(maxsize=30)
    simulator = context.Process(target=simulate, args=(games, 100), daemon=True)
    simulator.start()
    loader = DataLoader(Games(games), batch_size=10, num_workers=1, multiprocessing_context=context)
    value = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(value.parameters(), lr=1e-4)
    for update, batch in enumerate(loader, start=1):
        loss = (value(batch[:, :1]) - batch[:, 1:]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"update {update}: {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
