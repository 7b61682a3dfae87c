"""A checkpoint is written and validated under the lock of the augmentation cache. One validation image is not
in the cache yet, so a worker of the validation loader wants that lock too.

cause: lock-held-by-main-process
sample: 12
"""

import multiprocessing
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from unstall.zoo import announce


class AugmentationCache:
    def __init__(self, size):
        self.lock = multiprocessing.Lock()
        self.images = torch.zeros(size, 4).share_memory_()
        self.filled = torch.ones(size, dtype=torch.bool).share_memory_()

    def get(self, index):
        if not self.filled[index]:
            announce()
            self.lock.acquire()  # stalls here
            self.images[index] = torch.rand(4)
            self.filled[index] = True
            self.lock.release()
        return self.images[index].clone()


class ValidationImages(Dataset):
    def __init__(self, cache):
        self.cache = cache

    def __getitem__(self, index):
        return self.cache.get(index)

    def __len__(self):
        return len(self.cache.images)


class Experiment:
    def __init__(self):
        self.cache = AugmentationCache(24)
        self.cache.filled[12] = False
        self.network = torch.nn.Linear(4, 4)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01)
        self.train_loader = DataLoader(TensorDataset(torch.rand(64, 4)), batch_size=8, num_workers=1)
        self.val_loader = DataLoader(ValidationImages(self.cache), batch_size=4, num_workers=2)

    def run(self):
        for step, (images,) in enumerate(self.train_loader):
            self.optimizer.zero_grad()
            (self.network(images) - images).pow(2).mean().backward()
            self.optimizer.step()
            if step == 5:
                self.checkpoint()

    def checkpoint(self):
        with self.cache.lock:
            torch.save(self.cache.images, tempfile.mkdtemp() + "/cache.pt")
            print("validation loss", self.validate(), flush=True)

    @torch.no_grad()
    def validate(self):
        losses = [(self.network(images) - images).pow(2).mean().item() for images in self.val_loader]
        return sum(losses) / len(losses)


def main():
    Experiment().run()


if __name__ == "__main__":
    main()
