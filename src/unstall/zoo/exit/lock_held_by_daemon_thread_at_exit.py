"""A daemon thread is inside a library, which holds its own lock, when Python ends. The library's last act needs it.

cause: lock-held-by-daemon-thread-at-exit
"""

import ctypes
import threading
import time

import torch
from torch import nn

from unstall.zoo import announce


class Library:
    """A C library with one mutex: it is taken by every call, and once more when the program ends."""

    def __init__(self):
        self.c = ctypes.CDLL(None)
        self.mutex = ctypes.create_string_buffer(64)
        self.c.pthread_mutex_init(self.mutex, None)
        ending = ctypes.cast(self.c.pthread_mutex_lock, ctypes.c_void_p)
        getattr(self.c, "__cxa_atexit")(ending, self.mutex, None)

    def read_forever(self, begun):
        self.c.pthread_mutex_lock(self.mutex)
        begun.set()
        time.sleep(3600)


def main():
    library, begun = Library(), threading.Event()
    threading.Thread(target=library.read_forever, args=(begun,), daemon=True).start()
    begun.wait()
    model = nn.Linear(4, 1)
    for _ in range(20):
        model(torch.randn(8, 4)).sum().backward()
    announce()  # stalls here
    return library


if __name__ == "__main__":
    kept = main()
