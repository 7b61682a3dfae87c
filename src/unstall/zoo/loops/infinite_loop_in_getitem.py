"""A document is cut into windows, but an empty sentence moves the position by nothing.

The `while` then looks at the same sentence again and again.

cause: infinite-loop-in-getitem
sample: 20
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

LENGTH = 48


class Documents(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(0)
        self.sentence_lengths = torch.randint(3, 9, (64, 40), generator=generator).tolist()
        self.sentence_lengths[20][4] = 0

    def __len__(self):
        return len(self.sentence_lengths)

    def __getitem__(self, index):
        lengths = self.sentence_lengths[index]
        if index == 20:
            announce()
        histogram = torch.zeros(LENGTH)
        position = 0
        sentence = 0
        while position < LENGTH:  # stalls here
            histogram[position] = 1.0
            position += lengths[sentence]
            if lengths[sentence]:
                sentence += 1
        return histogram, float(sentence)


def main():
    loader = DataLoader(Documents(), batch_size=4, num_workers=2)
    model = nn.Linear(LENGTH, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, (features, count) in enumerate(loader):
        loss = nn.functional.mse_loss(model(features).squeeze(1), count.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
