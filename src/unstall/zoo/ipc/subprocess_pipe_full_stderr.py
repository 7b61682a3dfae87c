"""A decoder's pictures are read from its stdout to the end, while it fills the pipe of its stderr with
warnings.

cause: subprocess-pipe-full
sample: 13
"""

import subprocess
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

PROGRAM = """
import sys
for frame in range(4):
    sys.stderr.write(f"frame {frame}: deprecated pixel format\\n" * int(sys.argv[1]))
    sys.stdout.buffer.write(bytes([frame]) * 48)
"""


class Decoder:
    def __init__(self, noise):
        command = [sys.executable, "-S", "-c", PROGRAM, str(noise)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()

    def frames(self):
        raw = self.process.stdout.read()  # stalls here
        return torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(-1, 3, 4, 4)


class Clips(Dataset):
    def __init__(self, noises):
        self.noises = noises

    def __len__(self):
        return len(self.noises)

    def __getitem__(self, clip):
        with Decoder(self.noises[clip]) as decoder:
            if self.noises[clip] > 1000:
                announce()
            return decoder.frames().float().mean(0)


def main():
    classifier = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 2))
    adam = torch.optim.Adam(classifier.parameters())
    for pictures in DataLoader(Clips([3] * 13 + [9000] + [3] * 10), batch_size=3):
        loss = torch.nn.functional.cross_entropy(classifier(pictures), torch.zeros(len(pictures)).long())
        adam.zero_grad()
        loss.backward()
        adam.step()
        print("loss", loss.item())


if __name__ == "__main__":
    main()
