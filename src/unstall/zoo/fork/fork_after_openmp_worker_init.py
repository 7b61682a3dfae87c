"""`worker_init_fn` gives every worker four threads. The model was trained for an epoch in the main process
before the evaluation workers were forked, so OpenMP is already running there.

cause: fork-after-openmp
"""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from unstall.zoo import announce


def use_four_threads(worker_id):
    torch.set_num_threads(4)


class Blurred(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        if index == 0:
            announce()
        return torch.exp(-self.images[index])  # stalls here


class Trainer:
    def __init__(self, model, train_loader, val_loader):
        self.model = model
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def fit(self):
        for (images,) in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.model(images.exp()).pow(2).mean()
            loss.backward()
            self.optimizer.step()
            print("train", loss.item(), flush=True)
        self.validate()

    @torch.no_grad()
    def validate(self):
        for images in self.val_loader:
            print("validation", self.model(images).pow(2).mean().item(), flush=True)


def main():
    torch.set_num_threads(4)
    images = torch.rand(12, 200_000)
    train_loader = DataLoader(TensorDataset(images), batch_size=4)
    val_loader = DataLoader(Blurred(images), batch_size=2, num_workers=2, worker_init_fn=use_four_threads)
    Trainer(torch.nn.Linear(200_000, 1), train_loader, val_loader).fit()


if __name__ == "__main__":
    main()
