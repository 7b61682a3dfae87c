"""A broken annotation is read again and again at full speed, in the hope that it was only half written.

cause: retry-loop-never-succeeds
sample: 23
"""

import json
import pathlib
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Boxes(Dataset):
    def __init__(self, root):
        self.files = sorted(root.glob("*.json"))

    def __len__(self):
        return len(self.files)

    def load(self, file):
        annotation = None
        while annotation is None:  # stalls here
            try:
                annotation = json.loads(file.read_text())
            except ValueError:
                continue
        return annotation

    def __getitem__(self, n):
        if n == 23:
            announce()
        annotation = self.load(self.files[n])
        return torch.tensor(annotation["box"]), annotation["class"]


def main():
    root = pathlib.Path(tempfile.mkdtemp())
    for n in range(40):
        text = json.dumps({"box": [n, n, n + 5.0, n + 9.0], "class": n % 3})
        (root / f"{n:04}.json").write_text(text if n != 23 else text[:-9])
    head = torch.nn.Linear(4, 3)
    sgd = torch.optim.SGD(head.parameters(), lr=1e-3)
    for box, label in DataLoader(Boxes(root), batch_size=1):
        loss = torch.nn.functional.cross_entropy(head(box.float()), label)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        print(label.item(), end=" ")


if __name__ == "__main__":
    main()
