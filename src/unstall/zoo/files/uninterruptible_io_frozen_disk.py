"""Someone took a snapshot of the data disk and left it frozen (`fsfreeze`). A worker that writes there sleeps
in state D, and not even SIGKILL ends it before the disk is thawed. Needs root, and mounts a disk of 16 MB for
its lifetime.

cause: uninterruptible-io
sample: 15
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

# Is no child of the training and has a session of its own: it thaws and unmounts the disk when the training was killed.
CARETAKER = """
import os, select, subprocess, sys
training, mountpoint = os.pidfd_open(int(sys.argv[1])), sys.argv[2]
print("watching", flush=True)
select.select([training], [], [], 900)
subprocess.run(["fsfreeze", "--unfreeze", mountpoint])
subprocess.run(["umount", "--lazy", mountpoint])
os.unlink(os.path.join(os.path.dirname(mountpoint), "disk.img"))
"""


def mount_disk():
    folder = pathlib.Path(tempfile.mkdtemp())
    image, mountpoint = folder / "disk.img", folder / "disk"
    mountpoint.mkdir()
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    command = ["setsid", "--fork", sys.executable, "-c", CARETAKER, str(os.getpid()), mountpoint]
    caretaker = subprocess.Popen(command, stdout=subprocess.PIPE)
    caretaker.stdout.readline()
    subprocess.run(["mount", "-o", "loop", image, mountpoint], check=True)
    return mountpoint


class OnDisk(Dataset):
    def __init__(self, folder):
        self.folder = folder
        for index in range(40):
            self.path(index).write_bytes(bytes([index]))

    def __len__(self):
        return 40

    def path(self, index):
        return self.folder / f"{index}.bin"

    def __getitem__(self, index):
        value = self.path(index).read_bytes()[0]
        if index == 15:
            announce()
            self.path(index).write_bytes(b"seen")  # stalls here
        return torch.tensor(float(value))


def main():
    mountpoint = mount_disk()
    dataset = OnDisk(mountpoint)
    subprocess.run(["fsfreeze", "--freeze", mountpoint], check=True)
    for batch in DataLoader(dataset, batch_size=2, num_workers=1):
        print(batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
