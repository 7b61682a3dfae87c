"""One sample needs far more memory than the others, and the job has a limit. The kernel kills the worker.

cause: worker-oom-killed
sample: 25
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo.memory import _small


class Scans(Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        slices = 40_000 if index == 25 else 4
        volume = [torch.ones(64, 64) for _ in range(slices)]  # stalls here
        return torch.stack(volume).mean(0)


def main():
    _small.memory(700)
    for batch in DataLoader(Scans(), batch_size=4, num_workers=2):  # stalls here: where the line was not seen in time
        assert batch.shape == (4, 64, 64)


if __name__ == "__main__":
    main()
