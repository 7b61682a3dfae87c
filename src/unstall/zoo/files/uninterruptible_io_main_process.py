"""The training process itself starts a converter for each sample and gives it a pipe as its input that nobody
opens for writing. It sleeps in state D until the new process has begun, and no signal short of SIGKILL
reaches it.

cause: uninterruptible-io
sample: 22
"""

import os
import pathlib
import sys
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Converter:
    def run(self, source, target):
        redirections = [
            (os.POSIX_SPAWN_OPEN, 0, os.fspath(source), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.fspath(target), os.O_WRONLY | os.O_CREAT, 0o600),
        ]
        child = os.posix_spawnp("cat", ["cat"], os.environ, file_actions=redirections)  # stalls here
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Sounds(Dataset):
    def __init__(self, sources, converter):
        self.sources = sources
        self.converter = converter

    def __len__(self):
        return len(self.sources)

    def __getitem__(self, number):
        source = self.sources[number]
        target = source.with_suffix(".out")
        if number == 22:
            announce()
        if self.converter.run(source, target) != 0:
            print("can't convert", source, file=sys.stderr)
        return torch.tensor(list(target.read_bytes()), dtype=torch.float32)


class Trainer:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)

    def fit(self):
        for sounds in self.loader:
            self._step(sounds)

    def _step(self, sounds):
        loss = self.model(sounds).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        print(f"loss {loss.item():.3f}", flush=True)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    sources = [folder / f"{number}.wav" for number in range(40)]
    for number, source in enumerate(sources):
        source.write_bytes(bytes([number] * 6))
    sources[22].unlink()
    os.mkfifo(sources[22])
    loader = DataLoader(Sounds(sources, Converter()), batch_size=4, num_workers=0)
    Trainer(torch.nn.Linear(6, 1), loader).fit()


if __name__ == "__main__":
    main()
