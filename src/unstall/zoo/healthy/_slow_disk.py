"""Reading from a disk that gives a little at a time."""

import time


def chunks(size, chunk):
    for start in range(0, size, chunk):
        time.sleep(0.4)
        yield bytes(min(chunk, size - start))


def read_all(size, chunk=4096):
    data = bytearray()
    for part in chunks(size, chunk):
        data += part
    return data
