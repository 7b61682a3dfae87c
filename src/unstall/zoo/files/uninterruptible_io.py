"""A sample starts a program whose standard input is a pipe that never opens. Until the new process has begun
the program, the kernel keeps the worker in uninterruptible sleep (state D), as it does for a dead disk.

cause: uninterruptible-io
sample: 11
"""

import os
import shutil
import tempfile

from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Converted(Dataset):
    def __init__(self, sources):
        self.sources = sources
        self.program = shutil.which("true")

    def __len__(self):
        return len(self.sources)

    def convert(self, source):
        read_source = (os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0)
        pid = os.posix_spawn(self.program, ["true"], os.environ, file_actions=[read_source])  # stalls here
        return os.waitpid(pid, 0)[1]

    def __getitem__(self, index):
        if index == 11:
            announce()
        return self.convert(self.sources[index])


def main():
    folder = tempfile.mkdtemp()
    sources = [os.path.join(folder, f"{n}.src") for n in range(32)]
    for n, source in enumerate(sources):
        if n == 11:
            os.mkfifo(source)
        else:
            open(source, "w").close()
    for batch in DataLoader(Converted(sources), batch_size=4, num_workers=2, collate_fn=list):
        print("exit codes", batch, flush=True)


if __name__ == "__main__":
    main()
