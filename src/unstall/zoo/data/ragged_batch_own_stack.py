"""Recordings are cut to one length, except for those that are too short. The collate function stacks them all the same.

cause: ragged-batch
sample: 30
verdict: crashed
watched: run
"""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

LENGTH = 400


class Recordings(Dataset):
    def __len__(self):
        return 60

    def __getitems__(self, indices):
        return [{"sound": self.read(index)[:LENGTH], "name": f"{index}.wav"} for index in indices]

    def read(self, index):
        return np.zeros(LENGTH + index if index != 30 else 380, dtype=np.float32)


def together(recordings):
    sounds = np.stack([one["sound"] for one in recordings])  # stalls here
    return torch.from_numpy(sounds), [one["name"] for one in recordings]


def main():
    loader = DataLoader(Recordings(), batch_size=6, collate_fn=together, num_workers=1, persistent_workers=True)
    for _ in range(2):
        for sounds, names in loader:
            assert sounds.shape == (len(names), LENGTH)


if __name__ == "__main__":
    main()
