"""Attributes, found the way `object.__getattribute__` does, but without calling anything."""

from __future__ import annotations

from collections.abc import Iterator

from .classes import DICT, INLINE_VALUES, INT, MANAGED_DICT, TYPE, Class, Heap
from .containers import Table, find_key, read_keys, read_table
from .memory import Unreadable
from .values import digit_count

_MEMBER_OBJECT, _MEMBER_OBJECT_EX = 6, 16  # T_OBJECT, T_OBJECT_EX
_COMPUTED = ("getset_descriptor", "wrapper_descriptor", "cached_property")


def find_attribute(heap: Heap, address: int, kind: Class, name: str) -> int | None:
    """The address of attribute `name`; None if it is missing, unset or would have to be computed."""
    if kind.flags & TYPE:
        found = _in_classes(heap, heap.class_at(address).ancestors, name)
        if found is not None:
            return found
    else:
        table = instance_table(heap, address, kind)
        found = find_key(heap, table, name) if table is not None else None
        if found is not None:
            return found
    found = _in_classes(heap, kind.ancestors, name)
    return None if found is None else _bind(heap, address, found)


def instance_table(heap: Heap, address: int, kind: Class) -> Table | None:
    """The instance's own attributes, wherever this version keeps them; None if it has none."""
    dictionary = 0
    if kind.flags & MANAGED_DICT:
        dictionary, values = _managed(heap, address, kind)
        if values:
            keys = heap.memory.u64(kind.address + heap.layout.type_cached_keys)
            return read_keys(heap, keys, values) if keys else None
    elif kind.dict_offset > 0:
        dictionary = heap.memory.u64(address + kind.dict_offset)
    elif kind.dict_offset < 0:  # counted from the end of an instance of variable size
        count = digit_count(heap, address) if kind.flags & INT else abs(heap.memory.i64(address + 16))
        if count >> 32 or kind.item_size >> 16:
            raise Unreadable("not an object", f"implausible size of {kind.name} at {address:#x}")
        end = kind.basic_size + count * kind.item_size
        dictionary = heap.memory.u64(address + (end + 7) // 8 * 8 + kind.dict_offset)
    return read_table(heap, dictionary) if dictionary else None


def _managed(heap: Heap, address: int, kind: Class) -> tuple[int, int]:
    """The addresses of an instance's dict and of its values without a dict; 0 for what it hasn't."""
    version = heap.layout.version
    if version >= (3, 13):
        dictionary = heap.memory.u64(address - 24)
        if dictionary or not kind.flags & INLINE_VALUES:
            return dictionary, 0
        values = address + kind.basic_size
        return 0, values if heap.memory.u8(values + 3) else 0  # PyDictValues.valid
    if version == (3, 12):
        word = heap.memory.u64(address - 24)
        return (0, word + 1) if word & 1 else (word, 0)
    values, dictionary = heap.memory.u64s(address - 32, 2)
    return (0, values) if values else (dictionary, 0)


def _in_classes(heap: Heap, mro: tuple[int, ...], name: str) -> int | None:
    for table in _class_tables(heap, mro):
        found = find_key(heap, table, name)
        if found is not None:
            return found
    return None


def _class_tables(heap: Heap, mro: tuple[int, ...]) -> Iterator[Table]:
    for address in mro:
        dictionary = heap.class_at(address).dict_address
        # 3.12+ keeps the dicts of static built-in types elsewhere; they hold nothing but descriptors.
        if dictionary and heap.class_of(dictionary).flags & DICT:
            yield read_table(heap, dictionary)


def _bind(heap: Heap, address: int, found: int) -> int | None:
    """What a class attribute gives for the instance at `address`."""
    kind = heap.class_of(found)
    if kind.is_builtin("member_descriptor"):
        layout = heap.layout
        member = heap.memory.u64(found + layout.member_definition)
        member_type = heap.memory.i32(member + layout.member_type)
        offset = heap.memory.i64(member + layout.member_offset)
        if member_type not in (_MEMBER_OBJECT, _MEMBER_OBJECT_EX) or not 0 < offset < 1 << 24:
            return None
        return heap.memory.u64(address + offset) or None
    return None if kind.name in _COMPUTED or "property" in kind.lineage else found
