"""Lists, tuples, dicts, sets and deques: addresses of what they hold."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .classes import BYTES, DICT, INT, LIST, MAX_ITEMS, STR, TUPLE, Class, Heap
from .memory import Unreadable
from .values import is_text, read_int

_GENERAL_KEYS, _MAX_KEYS_KIND = 0, 2
_ANY_TABLE = 0
_HASH_MODULUS = (1 << 61) - 1
_DEQUE_BLOCK = 64
_DEQUE_LEFT_BLOCK, _DEQUE_LEFT_INDEX = 24, 40


@dataclass(frozen=True, slots=True)
class Table:
    """The keys of a dict, and its values: `hashes` only where keys are of any type."""

    address: int
    keys: tuple[int, ...]
    values: tuple[int, ...]
    hashes: tuple[int, ...] | None


def read_length(heap: Heap, address: int, kind: Class) -> int | None:
    """`len()` of a built-in container, text or bytes; None for anything else."""
    layout = heap.layout
    if kind.flags & (LIST | TUPLE | BYTES) or "collections.deque" in kind.lineage:
        length = heap.memory.i64(address + 16)
    elif kind.flags & STR:
        length = heap.memory.i64(address + layout.str_length)
    elif kind.flags & DICT:
        length = heap.memory.i64(address + layout.dict_used)
    elif kind.lineage & {"set", "frozenset"}:
        length = heap.memory.i64(address + layout.set_used)
    else:
        return None
    if length < 0:
        raise Unreadable("not an object", f"negative length at {address:#x}")
    return length


def read_sequence(heap: Heap, address: int, kind: Class) -> tuple[int, ...] | None:
    """The items of a list, tuple or deque, at most 10,000."""
    length = min(read_length(heap, address, kind) or 0, MAX_ITEMS)
    if "collections.deque" in kind.lineage:
        return _deque_items(heap, address, length)
    begin = _first_item(heap, address, kind)
    if begin is None:
        return None
    return heap.memory.u64s(begin, length) if length else ()


def read_index(heap: Heap, address: int, kind: Class, index: int) -> int | None:
    """The item at `index` of a list, tuple or deque; negative counts from the end."""
    if not kind.flags & (LIST | TUPLE) and "collections.deque" not in kind.lineage:
        return None
    length = read_length(heap, address, kind) or 0
    index += length if index < 0 else 0
    if not 0 <= index < length:
        return None
    begin = _first_item(heap, address, kind)
    if begin is not None:
        return heap.memory.u64(begin + 8 * index)
    items = _deque_items(heap, address, min(index + 1, MAX_ITEMS))
    return items[index] if index < len(items) else None


def _first_item(heap: Heap, address: int, kind: Class) -> int | None:
    if kind.flags & LIST:
        return heap.memory.u64(address + heap.layout.list_items)
    return address + heap.layout.tuple_items if kind.flags & TUPLE else None


def _deque_items(heap: Heap, address: int, count: int) -> tuple[int, ...]:
    block = heap.memory.u64(address + _DEQUE_LEFT_BLOCK)
    at = heap.memory.i64(address + _DEQUE_LEFT_INDEX)
    if not 0 <= at < _DEQUE_BLOCK:
        raise Unreadable("not an object", f"implausible deque at {address:#x}")
    items: list[int] = []
    while len(items) < count:
        words = heap.memory.u64s(block + 8, _DEQUE_BLOCK + 1)  # the items, then the next block
        items += words[at:_DEQUE_BLOCK]
        block, at = words[_DEQUE_BLOCK], 0
    return tuple(items[:count])


def read_table(heap: Heap, address: int) -> Table:
    """The keys and values of the dict at `address`."""
    data = heap.memory.read(address, heap.layout.dict_values + 8)
    keys = int.from_bytes(data[heap.layout.dict_keys : heap.layout.dict_keys + 8], "little")
    values = int.from_bytes(data[heap.layout.dict_values :], "little")
    return read_keys(heap, keys, values)


def read_keys(heap: Heap, keys: int, values: int) -> Table:
    """A table of keys with its values, which are in an array of their own if `values` is not 0."""
    layout, memory = heap.layout, heap.memory
    head = memory.read(keys, layout.keys_indices)
    index_bytes, kind = head[layout.keys_log2_index_bytes], head[layout.keys_kind]
    count = int.from_bytes(head[layout.keys_entry_count : layout.keys_entry_count + 8], "little", signed=True)
    if index_bytes > 40 or kind > _MAX_KEYS_KIND or count < 0:
        raise Unreadable("not an object", f"implausible dict keys at {keys:#x}")
    count = min(count, MAX_ITEMS)
    width = 3 if kind == _GENERAL_KEYS else 2
    words = memory.u64s(keys + layout.keys_indices + (1 << index_bytes), width * count) if count else ()
    names = words[width - 2 :: width]
    if values:
        return Table(keys, names, memory.u64s(values + layout.values_array, count) if count else (), None)
    return Table(keys, names, words[width - 1 :: width], words[::3] if width == 3 else None)


def find_key(heap: Heap, table: Table, key: int | str) -> int | None:
    """The value for `key` in a table."""
    return _find_text(heap, table, key) if isinstance(key, str) else _find_int(heap, table, key)


def _find_text(heap: Heap, table: Table, text: str) -> int | None:
    # Where it was last time: in this table, or else in any (modules begin with the same names).
    hint = heap.hints.get((table.address, text), heap.hints.get((_ANY_TABLE, text), -1))
    if 0 <= hint < len(table.keys) and table.keys[hint] and _has_text(heap, table, hint, text):
        return table.values[hint] or None
    for index, key in enumerate(table.keys):
        if key and _has_text(heap, table, index, text):
            heap.remember((table.address, text), index)
            heap.remember((_ANY_TABLE, text), index)
            return table.values[index] or None
    return None


def _has_text(heap: Heap, table: Table, index: int, text: str) -> bool:
    if table.hashes is not None and not heap.class_of(table.keys[index]).flags & STR:
        return False
    return is_text(heap, table.keys[index], text)


def _find_int(heap: Heap, table: Table, number: int) -> int | None:
    if table.hashes is None:
        return None  # all keys are text
    wanted = abs(number) % _HASH_MODULUS * (-1 if number < 0 else 1)
    hashed = struct.unpack("<Q", struct.pack("<q", -2 if wanted == -1 else wanted))[0]
    for key, known, value in zip(table.keys, table.hashes, table.values, strict=True):
        may_match = known == hashed and key and value and heap.class_of(key).flags & INT
        if may_match and read_int(heap, key) == number:
            return value
    return None
