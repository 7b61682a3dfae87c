"""Plain values: int, float, str, bytes."""

from __future__ import annotations

import struct

from .classes import BYTES, INT, STR, Class, Heap
from .memory import Unreadable

LIMIT = 4096
_MAX_DIGITS = 1000
_MAX_BYTES = 1 << 20
_ENCODINGS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}


def read_value(heap: Heap, address: int, kind: Class, limit: int) -> int | float | bool | str | bytes | None:
    """The value of a plain object; text and bytes are cut at `limit`."""
    if kind.flags & INT:
        number = read_int(heap, address)
        return bool(number) if kind.is_builtin("bool") else number
    if kind.flags & STR:
        return read_text(heap, address, limit)
    if kind.flags & BYTES:
        return read_bytes(heap, address, limit)
    if "float" in kind.lineage:
        value: float = struct.unpack("<d", heap.memory.read(address + heap.layout.float_value, 8))[0]
        return value
    if kind.is_builtin("NoneType"):
        return None
    raise Unreadable("not a plain value", kind.name)


def digit_count(heap: Heap, address: int) -> int:
    """How many 30-bit digits an int has."""
    size = heap.memory.i64(address + heap.layout.int_size)
    return (size >> 3) if heap.layout.int_tagged else abs(size)


def read_int(heap: Heap, address: int) -> int:
    """An int of any size up to 30,000 bits."""
    layout = heap.layout
    data = heap.memory.read_some(address, layout.int_digits + 8)
    size = int.from_bytes(data[layout.int_size : layout.int_size + 8], "little", signed=True)
    if layout.int_tagged:
        count, negative = size >> 3, size & 3 == 2
        if size & 3 == 1:
            return 0
    else:
        count, negative = abs(size), size < 0
    if not 0 <= count <= _MAX_DIGITS:
        raise Unreadable("not an object", f"implausible int at {address:#x}")
    number = 0
    digits = heap.memory.read(address + layout.int_digits, 4 * count) if count else b""
    for (digit,) in reversed(list(struct.iter_unpack("<I", digits))):
        number = number << 30 | digit & 0x3FFFFFFF
    return -number if negative else number


def read_bytes(heap: Heap, address: int, limit: int) -> bytes:
    """The first `limit` bytes of a bytes object."""
    length = heap.memory.u64(address + 16)
    if length >> 40:
        raise Unreadable("not an object", f"implausible bytes at {address:#x}")
    return heap.memory.read(address + heap.layout.bytes_value, min(length, limit, _MAX_BYTES))


def read_text(heap: Heap, address: int, limit: int = LIMIT) -> str:
    """The first `limit` characters of a str, of any internal kind."""
    layout = heap.layout
    head = heap.memory.read_some(address, 160)
    if len(head) < layout.str_ascii_data:
        raise Unreadable("not mapped", f"str at {address:#x}")
    length, state = _text_head(head, layout.str_length, layout.str_state)
    width, compact, ascii_only = state >> 2 & 7, state >> 5 & 1, state >> 6 & 1
    if length >> 40 or width not in _ENCODINGS or (ascii_only and width != 1):
        raise Unreadable("not an object", f"implausible str at {address:#x}")
    size = min(length, limit, _MAX_BYTES) * width
    if compact:
        begin = layout.str_ascii_data if ascii_only else layout.str_compact_data
        data = head[begin : begin + size]
        if len(data) < size:
            data = heap.memory.read(address + begin, size)
    else:  # an instance of a subclass: the text lies elsewhere
        data = heap.memory.read(heap.memory.u64(address + layout.str_compact_data), size) if size else b""
    return data.decode(_ENCODINGS[width], "replace")


def is_text(heap: Heap, address: int, text: str) -> bool:
    """Whether the str at `address` equals `text`; one read for ASCII."""
    layout = heap.layout
    if not text.isascii():
        return read_text(heap, address, len(text) + 1) == text
    begin = layout.str_ascii_data
    data = heap.memory.read_some(address, begin + len(text))
    if len(data) < begin + len(text):
        return False
    length, state = _text_head(data, layout.str_length, layout.str_state)
    if length != len(text):
        return False
    if state >> 5 & 3 == 3:
        return data[begin:] == text.encode()
    return read_text(heap, address, len(text) + 1) == text


def _text_head(data: bytes, length_at: int, state_at: int) -> tuple[int, int]:
    length = int.from_bytes(data[length_at : length_at + 8], "little")
    return length, int.from_bytes(data[state_at : state_at + 4], "little")
