"""The types of a running interpreter's objects, read once each and remembered."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .layouts import Layout
from .memory import ProcessMemory, Unreadable

MAX_ITEMS = 10_000
INLINE_VALUES, MANAGED_DICT, HEAP_TYPE, READY = 1 << 2, 1 << 4, 1 << 9, 1 << 12
INT, LIST, TUPLE, BYTES, STR, DICT, TYPE = (1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 31)

_MAX_MRO = 200
_MAX_CACHED = 20_000
_U64 = struct.Struct("<Q")
_I64 = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class Class:
    """What is needed of a `PyTypeObject`."""

    address: int
    name: str  # tp_name
    flags: int
    basic_size: int
    item_size: int
    dict_offset: int
    dict_address: int
    ancestors: tuple[int, ...]  # the mro, itself first
    lineage: frozenset[str]  # tp_name of the built-in types along the mro

    def is_builtin(self, name: str) -> bool:
        """Whether this is the built-in type `name` itself, not a user's class of that name."""
        return self.name == name and (not self.flags & HEAP_TYPE or "." in name)


class Heap:
    """The objects of one interpreter: its memory, its layout, and the types seen so far."""

    def __init__(self, memory: ProcessMemory, layout: Layout) -> None:
        self.memory = memory
        self.layout = layout
        self.hints: dict[tuple[int, str], int] = {}
        self._classes: dict[int, tuple[bytes, Class]] = {}

    def class_of(self, address: int) -> Class:
        """The type of the object at `address`."""
        return self.class_at(self.memory.u64(address + 8))

    def class_at(self, address: int) -> Class:
        """The type object at `address`; `Unreadable` if it doesn't look like one."""
        layout = self.layout
        data = self.memory.read(address, layout.type_mro + 8)
        known = self._classes.get(address)
        # These pointers change when another type is made at the same address.
        check = data[layout.type_name : layout.type_name + 8] + data[layout.type_dict :]
        if known is not None and known[0] == check:
            return known[1]
        parsed = self._parse(address, data)
        if len(self._classes) > _MAX_CACHED:
            self._classes.clear()
        self._classes[address] = check, parsed
        return parsed

    def remember(self, key: tuple[int, str], index: int) -> None:
        """Note where a name was found in a table of keys: the next look-up tries there first."""
        if len(self.hints) > _MAX_CACHED:
            self.hints.clear()
        self.hints[key] = index

    def _parse(self, address: int, data: bytes) -> Class:
        layout = self.layout
        flags = _word(data, layout.type_flags)
        basic_size = _word(data, layout.type_basic_size)
        name = self.memory.cstring(_word(data, layout.type_name))
        if not flags & READY or not 16 <= basic_size < 1 << 24 or not name.isprintable():
            raise Unreadable("not an object", f"no type at {address:#x}")
        mro = self._mro(_word(data, layout.type_mro))
        return Class(
            address=address,
            name=name,
            flags=flags,
            basic_size=basic_size,
            item_size=_word(data, layout.type_item_size),
            dict_offset=_I64.unpack_from(data, layout.type_dict_offset)[0],
            dict_address=_word(data, layout.type_dict),
            ancestors=mro,
            lineage=self._lineage(mro),
        )

    def _mro(self, address: int) -> tuple[int, ...]:
        if not address:
            return ()
        count = self.memory.u64(address + 16)
        if count > _MAX_MRO:
            raise Unreadable("not an object", f"implausible mro at {address:#x}")
        return self.memory.u64s(address + self.layout.tuple_items, count)

    def _lineage(self, mro: tuple[int, ...]) -> frozenset[str]:
        names = set()
        for address in mro:
            name = self.memory.cstring(self.memory.u64(address + self.layout.type_name))
            if "." in name or not self.memory.u64(address + self.layout.type_flags) & HEAP_TYPE:
                names.add(name)
        return frozenset(names)


def _word(data: bytes, offset: int) -> int:
    value: int = _U64.unpack_from(data, offset)[0]
    return value
