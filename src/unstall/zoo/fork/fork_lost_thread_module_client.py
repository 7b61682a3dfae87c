"""A helper module holds a client with a background thread. The main process uses it once to find the longest
text, so the workers inherit a client that believes that its thread is running.

cause: fork-lost-thread
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce
from unstall.zoo.fork._token_service import client


class Texts(Dataset):
    def __init__(self, texts):
        self.texts = texts
        self.longest = max(len(client.tokens(text)) for text in texts)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.texts[index]


class Encode:
    def __init__(self, width):
        self.width = width

    def __call__(self, texts):
        if texts[0].startswith("0"):
            announce()
        rows = [client.tokens(text) for text in texts]
        return torch.tensor([row + [0] * (self.width - len(row)) for row in rows])


class Trainer:
    def __init__(self, width):
        self.model = torch.nn.Linear(width, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def fit(self, loader):
        for batch in loader:
            self._step(batch.float())

    def _step(self, batch):
        self.optimizer.zero_grad()
        self.model(batch).pow(2).mean().backward()
        self.optimizer.step()


def main():
    texts = Texts([f"{n} bottles" + " of beer" * (n % 4) for n in range(40)])
    print("longest text:", texts.longest, "words", flush=True)
    loader = DataLoader(texts, batch_size=5, num_workers=4, collate_fn=Encode(texts.longest))
    Trainer(texts.longest).fit(loader)


if __name__ == "__main__":
    main()
