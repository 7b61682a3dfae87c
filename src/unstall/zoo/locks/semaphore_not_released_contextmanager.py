"""A home-made context manager releases the decoder slot after `yield`, but not in a `finally`: each sample
that raises inside the block keeps its slot.

cause: semaphore-not-released
sample: 15
"""

import contextlib
import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class DecoderSlots:
    def __init__(self, context, count):
        self._free = context.BoundedSemaphore(count)

    @contextlib.contextmanager
    def slot(self):
        self._free.acquire()  # stalls here
        yield
        self._free.release()


class Frames(Dataset):
    def __init__(self, slots, damaged):
        self.slots = slots
        self.damaged = damaged

    def __len__(self):
        return 48

    def decode(self, frame):
        with self.slots.slot():
            if frame in self.damaged:
                raise OSError(f"frame {frame} is damaged")
            return torch.full((2, 2), float(frame))

    def __getitem__(self, frame):
        if frame == 15:
            announce()
        try:
            return self.decode(frame)
        except OSError:
            return torch.zeros(2, 2)


def main():
    context = multiprocessing.get_context("spawn")
    frames = Frames(DecoderSlots(context, count=4), damaged={2, 6, 11, 14})
    loader = DataLoader(frames, batch_size=4, num_workers=1, multiprocessing_context=context)
    for batch in loader:
        print("brightness", batch.mean().item(), flush=True)


if __name__ == "__main__":
    main()
