"""Slices of a scan are drawn until one contains a lesion, and the mask of one healthy patient is empty.

cause: rejection-sampling-never-accepts
sample: 27
"""

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Volumes(Dataset):
    def __init__(self, patients=40, depth=12):
        self.masks = torch.zeros(patients, depth, 16, 16)
        self.masks[:, 3:7, 4:9, 4:9] = 1
        self.masks[27] = 0

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, patient):
        volume = self.masks[patient]
        if not volume.any():
            announce()
        mask = volume[0]
        while mask.sum() == 0:  # stalls here
            z = torch.randint(len(volume), ()).item()
            mask = volume[z]
        scan = mask + 0.3 * torch.randn(16, 16)
        return scan.unsqueeze(0), mask.unsqueeze(0)


class Segmenter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(4, 1, 1)
        )

    def forward(self, scan):
        return self.layers(scan)


def main():
    net = Segmenter()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    criterion = torch.nn.BCEWithLogitsLoss()
    loader = DataLoader(Volumes(), batch_size=2, num_workers=4)
    for epoch in range(10):
        for scan, mask in loader:
            optimizer.zero_grad()
            loss = criterion(net(scan), mask)
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch}, bce {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
