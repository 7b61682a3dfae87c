"""Records are read again and again, and kept if their language fits. It is written in capitals in the file.

cause: iterable-yields-nothing
"""

import json
import tempfile

import torch
from torch.utils.data import DataLoader, IterableDataset

from unstall.zoo import announce


class Records(IterableDataset):
    def __init__(self, path, language):
        self.path, self.language = path, language

    def lines(self):
        with open(self.path) as file:
            for number, line in enumerate(file):
                yield number, json.loads(line)

    def __iter__(self):
        announce()
        while True:  # stalls here
            for number, record in self.lines():
                if record["language"] == self.language:
                    yield torch.tensor([number, len(record["text"])])


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for number in range(500):
            file.write(json.dumps({"language": "EN", "text": "word " * (number % 40)}) + "\n")
        file.flush()
        for step, batch in zip(range(200), DataLoader(Records(file.name, "en"), batch_size=8, num_workers=1)):
            print(step, batch.sum().item())


if __name__ == "__main__":
    main()
