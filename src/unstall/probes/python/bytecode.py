"""Code objects: names, positions and exception handlers, parsed once each."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from .classes import MAX_ITEMS, Heap
from .memory import Unreadable
from .values import read_bytes, read_text

CELL_OR_FREE = 0x40 | 0x80  # CO_FAST_CELL, CO_FAST_FREE
HIDDEN = 0x10  # CO_FAST_HIDDEN: a variable of an inlined comprehension
_OPTIMIZED = 0x1  # CO_OPTIMIZED: has fast locals
_GENERATOR_KINDS = 0x20 | 0x80 | 0x200  # generator, coroutine, async generator
_MAX_TABLE = 4 << 20
_MAX_SLOTS = 100_000
_U64 = struct.Struct("<Q")
_I32 = struct.Struct("<i")


@dataclass(frozen=True, slots=True)
class Position:
    """Where an instruction stands in the source; None where the compiler left it out."""

    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None


@dataclass(frozen=True)
class Code:
    """What is needed of a code object."""

    address: int
    file: str
    qualname: str
    first_line: int
    flags: int
    first_instruction: int  # address
    unit_count: int  # of 2 bytes
    first_traceable: int
    stack_size: int
    local_names: tuple[str, ...]
    local_kinds: bytes
    line_table: bytes = field(repr=False)
    exception_table: bytes = field(repr=False)

    @property
    def has_fast_locals(self) -> bool:
        """Whether variables are in the frame; those of modules and class bodies are in a dict."""
        return bool(self.flags & _OPTIMIZED)

    @property
    def is_generator_like(self) -> bool:
        """Whether this is a generator or coroutine function."""
        return bool(self.flags & _GENERATOR_KINDS)

    @property
    def slot_count(self) -> int:
        """Locals plus value stack: the words of a frame after its head."""
        return len(self.local_kinds) + self.stack_size

    @cached_property
    def _positions(self) -> tuple[list[int], list[Position]]:
        starts, positions = [], []
        for start, position in _read_positions(self.line_table, self.first_line):
            starts.append(start)
            positions.append(position)
        return starts, positions

    @cached_property
    def _handlers(self) -> list[tuple[int, int, int]]:
        return list(_read_handlers(self.exception_table))

    def position(self, unit: int) -> Position:
        """The source position of the instruction at code unit `unit`."""
        starts, positions = self._positions
        index = bisect_right(starts, max(unit, 0)) - 1
        return positions[index] if index >= 0 else Position(self.first_line)

    def handler_depth(self, unit: int) -> int:
        """How much of the value stack the handler that covers `unit` keeps; 0 if nothing covers it."""
        for start, end, depth in self._handlers:
            if start <= unit < end:
                return depth
        return 0


class CodeCache:
    """Parsed code objects by address, each checked again before use: the address may have been reused."""

    def __init__(self, heap: Heap) -> None:
        self._heap = heap
        self._known: dict[int, tuple[bytes, Code]] = {}

    def code_at(self, address: int) -> Code:
        """The code object at `address`; `Unreadable` if there is none."""
        layout = self._heap.layout
        data = self._heap.memory.read(address, layout.code_bytecode)
        check = data[8:24] + data[layout.code_exceptions : layout.code_lines + 8]
        if layout.version == (3, 11):  # leaves out a counter that changes with every call
            check = data[8:24] + data[layout.code_stack_size : layout.code_lines + 8]
        known = self._known.get(address)
        if known is not None and known[0] == check:
            return known[1]
        code = self._parse(address, data)
        if len(self._known) > 2 * MAX_ITEMS:
            self._known.clear()
        self._known[address] = check, code
        return code

    def _parse(self, address: int, data: bytes) -> Code:
        heap, layout = self._heap, self._heap.layout
        if not heap.class_of(address).is_builtin("code"):
            raise Unreadable("not a code object", f"at {address:#x}")
        slots = _I32.unpack_from(data, layout.code_local_count)[0]
        stack_size = _I32.unpack_from(data, layout.code_stack_size)[0]
        if not 0 <= slots <= MAX_ITEMS or not 0 <= stack_size <= _MAX_SLOTS:
            raise Unreadable("not a code object", f"implausible sizes at {address:#x}")
        names = _U64.unpack_from(data, layout.code_local_names)[0]
        if heap.memory.u64(names + 16) != slots:
            raise Unreadable("not a code object", f"names and sizes differ at {address:#x}")
        name_refs = heap.memory.u64s(names + layout.tuple_items, slots) if slots else ()
        kinds = read_bytes(heap, _U64.unpack_from(data, layout.code_local_kinds)[0], MAX_ITEMS)
        if len(kinds) != slots:
            raise Unreadable("not a code object", f"names and kinds differ at {address:#x}")
        return Code(
            address=address,
            file=read_text(heap, _U64.unpack_from(data, layout.code_file)[0]),
            qualname=read_text(heap, _U64.unpack_from(data, layout.code_qualname)[0]),
            first_line=_I32.unpack_from(data, layout.code_first_line)[0],
            flags=_I32.unpack_from(data, layout.code_flags)[0],
            first_instruction=address + layout.code_bytecode,
            unit_count=_U64.unpack_from(data, 16)[0],
            first_traceable=_I32.unpack_from(data, layout.code_first_traceable)[0],
            stack_size=stack_size,
            local_names=tuple(read_text(heap, name) for name in name_refs),
            local_kinds=kinds,
            line_table=read_bytes(heap, _U64.unpack_from(data, layout.code_lines)[0], _MAX_TABLE),
            exception_table=read_bytes(heap, _U64.unpack_from(data, layout.code_exceptions)[0], _MAX_TABLE),
        )


def _read_positions(table: bytes, line: int) -> Iterator[tuple[int, Position]]:
    """Each entry of a co_linetable: first code unit and position (CPython's Objects/locations.md)."""
    at, unit = 0, 0
    while at < len(table):
        first = table[at]
        kind, length = first >> 3 & 15, (first & 7) + 1
        at += 1
        if kind == 15:
            position = Position(None)
        elif kind == 14:
            delta, at = _signed(table, at)
            end_delta, at = _unsigned(table, at)
            column, at = _unsigned(table, at)
            end_column, at = _unsigned(table, at)
            line += delta
            position = Position(line, line + end_delta, column - 1, end_column - 1)
        elif kind == 13:
            delta, at = _signed(table, at)
            line += delta
            position = Position(line, line)
        elif kind >= 10:
            line += kind - 10
            position = Position(line, line, _byte(table, at), _byte(table, at + 1))
            at += 2
        else:
            second = _byte(table, at)
            column = kind * 8 + (second >> 4)
            position = Position(line, line, column, column + (second & 15))
            at += 1
        yield unit, position
        unit += length


def _read_handlers(table: bytes) -> Iterator[tuple[int, int, int]]:
    """Each entry of a co_exceptiontable: first and end code unit, depth (exception_handling_notes.txt)."""
    at = 0
    while at < len(table):
        start, at = _big_endian(table, at)
        size, at = _big_endian(table, at)
        _, at = _big_endian(table, at)  # the handler
        depth_and_lasti, at = _big_endian(table, at)
        yield start, start + size, depth_and_lasti >> 1


def _big_endian(table: bytes, at: int) -> tuple[int, int]:
    byte = _byte(table, at)
    value = byte & 63
    while byte & 64 and at < len(table):
        at += 1
        byte = _byte(table, at)
        value = value << 6 | byte & 63
    return value, at + 1


def _unsigned(table: bytes, at: int) -> tuple[int, int]:
    byte = _byte(table, at)
    value, shift = byte & 63, 0
    while byte & 64 and at < len(table):
        at += 1
        shift += 6
        byte = _byte(table, at)
        value |= (byte & 63) << shift
    return value, at + 1


def _signed(table: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(table, at)
    return (-(value >> 1) if value & 1 else value >> 1), at


def _byte(table: bytes, at: int) -> int:
    return table[at] if at < len(table) else 0
