"""A sample carries a lambda, which cannot be pickled, so its batch never arrives.

The worker only prints a traceback; it goes on as if nothing had happened.

cause: result-not-picklable
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Scaled(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        sample = {"value": torch.tensor([index / 64]), "undo": None}
        if index == 20:
            sample["undo"] = lambda value: value * 64  # stalls here
            announce()
        return sample


def collate(samples):
    return torch.stack([sample["value"] for sample in samples]), [sample["undo"] for sample in samples]


def main():
    loader = DataLoader(Scaled(), batch_size=4, num_workers=2, collate_fn=collate)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (values, _) in enumerate(loader):
        loss = model(values).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
