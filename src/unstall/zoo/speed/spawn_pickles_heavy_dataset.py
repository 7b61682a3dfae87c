"""The dataset keeps two million short texts in a list. Spawned workers get a pickled copy each.

cause: spawn-pickles-heavy-dataset
verdict: slow
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    def __init__(self, count):
        self.texts = [{"key": f"text {number}", "length": number % 50} for number in range(count)]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return torch.tensor([float(self.texts[index]["length"])])


def main():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Texts(1_500_000), batch_size=64, num_workers=2, multiprocessing_context="spawn")
    for lengths in loader:  # stalls here
        optimizer.zero_grad()
        (model(lengths) - lengths).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
