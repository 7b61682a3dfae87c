"""An extension is built once per machine under torch's `FileBaton`. An earlier build was killed, its baton
file is still there, and `wait()` has no time limit.

cause: stale-lockfile
"""

import os
import tempfile

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.file_baton import FileBaton

from unstall.zoo import announce


class Kernels:
    def __init__(self, build_folder):
        self.build_folder = build_folder
        self.built = set()

    def load(self, name):
        if name not in self.built:
            self.build(FileBaton(os.path.join(self.build_folder, f"{name}.lock")))
            self.built.add(name)
        return {"scale": lambda x: 2 * x, "square": torch.square}[name]

    def build(self, baton):
        if baton.try_acquire():
            baton.release()
        else:
            announce()
            baton.wait()  # stalls here


def main():
    build_folder = tempfile.mkdtemp()
    kernels = Kernels(build_folder)
    open(os.path.join(build_folder, "square.lock"), "x").close()
    loader = DataLoader(TensorDataset(torch.arange(24.0)), batch_size=3, num_workers=2)
    for step, (values,) in enumerate(loader):
        kernel = kernels.load("scale" if step < 4 else "square")
        print(kernel(values).tolist(), flush=True)


if __name__ == "__main__":
    main()
