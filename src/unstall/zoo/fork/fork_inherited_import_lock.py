"""A thread imports a large module while the workers are forked. They need the same module.

cause: fork-inherited-import-lock
sample: 0
"""

import pathlib
import sys
import tempfile
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

MODULE = """
import threading
BEGUN.set()
DONE.wait(60)
def decode(index):
    return float(index)
"""


class Images(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        if index == 0:
            announce()
        from slow_codec import decode  # stalls here

        return torch.tensor([decode(index)])


def warm_up():
    import slow_codec

    slow_codec.decode(0)


def main():
    folder = tempfile.mkdtemp()
    pathlib.Path(folder, "slow_codec.py").write_text(MODULE)
    sys.path.insert(0, folder)
    import builtins

    builtins.BEGUN, builtins.DONE = threading.Event(), threading.Event()
    threading.Thread(target=warm_up, daemon=True).start()
    builtins.BEGUN.wait()
    batches = iter(DataLoader(Images(), batch_size=4, num_workers=2))
    builtins.DONE.set()
    for batch in batches:
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
