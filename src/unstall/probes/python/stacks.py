"""Read one thread's stack while it runs.

A running thread pushes and pops frames as we read. So the raw memory is taken first, in as few reads as
possible, and believed only if it fits together: the stack has an end, and each call's frame begins where its
caller's ends. It is read again, a few times, until the thread was in the same call before and after.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

from .bytecode import CELL_OR_FREE, HIDDEN, Code, CodeCache, Position
from .classes import Heap
from .memory import PAGE, Unreadable
from .objects import Ref, read_names

MAX_FRAMES = 1000
_ATTEMPTS = 6
_OWNED_BY_THREAD, _OWNED_BY_GENERATOR = 0, 1
_NO_SHIMS = 255
_SLOTS_AT_ONCE = 56
_BELOW = 8192
_FIRST_IN_CHUNK = (24, 32)  # where the first frame of a chunk of the data stack begins, within its page
_STATE_BEFORE_FRAME = 5  # a generator's state is a byte, with four of padding before its frame
_ENDED = (1, 4)  # FRAME_COMPLETED, FRAME_CLEARED: what is left of such a frame means nothing
_EXITS = ("__exit__", "__aexit__")

RawFrame: TypeAlias = tuple[int, bytes, int]  # address, the memory around it, where in that it begins


class Frame:
    """One Python call: where it is, and its variables as they were when the stack was read."""

    __slots__ = ("_heap", "_slots", "code", "globals", "instruction", "locals_address", "owner")

    def __init__(self, heap: Heap, code: Code, unit: int, head: bytes, slots: tuple[int, ...]) -> None:
        layout = heap.layout
        self._heap = heap
        self._slots = slots
        self.code = code
        self.instruction = 2 * unit  # offset in bytes, as in co_code
        self.owner = head[layout.frame_owner]
        self.globals = Ref(_word(head, layout.frame_globals), heap)
        self.locals_address = _word(head, layout.frame_locals)

    def __repr__(self) -> str:
        return f"<Frame {self.function} {self.file}:{self.line}>"

    @property
    def file(self) -> str:
        """The source file (co_filename)."""
        return self.code.file

    @property
    def function(self) -> str:
        """The function's qualified name (co_qualname)."""
        return self.code.qualname

    @property
    def first_line(self) -> int:
        """The line where the function begins."""
        return self.code.first_line

    @property
    def position(self) -> Position:
        """Where the running expression stands in the source."""
        return self.code.position(self.instruction // 2)

    @property
    def line(self) -> int | None:
        """The running line; None for an instruction that the compiler added without one."""
        return self.position.line

    @property
    def end_line(self) -> int | None:
        """The last line of the running expression."""
        return self.position.end_line

    @property
    def column(self) -> int | None:
        """The first column of the running expression, from 0, in UTF-8 bytes."""
        return self.position.column

    @property
    def end_column(self) -> int | None:
        """The column after the running expression."""
        return self.position.end_column

    @property
    def is_generator(self) -> bool:
        """Whether this frame belongs to a generator or coroutine."""
        return self.owner == _OWNED_BY_GENERATOR

    @property
    def locals(self) -> dict[str, Ref]:
        """The variables that are set; of a module or class body, its namespace."""
        if not self.code.has_fast_locals:
            return read_names(Ref(self.locals_address, self._heap)) if self.locals_address else {}
        named: dict[str, Ref] = {}
        for index, name in enumerate(self.code.local_names):
            ref = self._fast_local(index)
            if ref is not None and not (self.code.local_kinds[index] & HIDDEN and name in named):
                named[name] = ref
        return named

    def _fast_local(self, index: int) -> Ref | None:
        address = self._slots[index]
        ref = Ref(address, self._heap) if address else None
        is_cell = ref is not None and self.code.local_kinds[index] & CELL_OR_FREE
        return _contents(ref) if ref is not None and is_cell else ref

    def local(self, name: str) -> Ref | None:
        """One variable; cheaper than all of `locals`."""
        if self.code.has_fast_locals:
            names = self.code.local_names
            found = (self._fast_local(index) for index, known in enumerate(names) if known == name)
            return next((ref for ref in found if ref is not None), None)
        return Ref(self.locals_address, self._heap).item(name) if self.locals_address else None

    def contexts(self) -> list[Ref]:
        """The objects whose `with` block the frame is inside of, innermost last.

        A `with` statement keeps the bound `__exit__` on the value stack, below the depth that the exception
        handler covering the current instruction restores.
        """
        depth = self.code.handler_depth(self.instruction // 2)
        first = len(self.code.local_kinds)
        found = []
        for address in self._slots[first : first + depth]:
            manager = _bound_to_exit(Ref(address, self._heap)) if address else None
            if manager is not None:
                found.append(manager)
        return found

    def value_stack(self) -> list[Ref]:
        """The objects that the frame's expressions are at work on; of a coroutine, what it awaits is among them."""
        return [Ref(address, self._heap) for address in self._slots[len(self.code.local_kinds) :] if address]

    def walks(self) -> list[tuple[Ref, int]]:
        """The objects that `for` loops of this frame go over by index, and the next index of each.

        Python does so with an object that has `__getitem__` and no `__iter__`; the loop keeps it on the value stack.
        """
        found = []
        for address in self._slots[len(self.code.local_kinds) :]:
            walk = _walk(Ref(address, self._heap)) if address else None
            if walk is not None:
                found.append(walk)
        return found


def _walk(ref: Ref) -> tuple[Ref, int] | None:
    try:
        if not ref.kind.is_builtin("iterator"):
            return None
        index, sequence = ref.memory.u64(ref.address + 16), ref.memory.u64(ref.address + 24)
        return (Ref(sequence, ref.heap), index) if sequence and index < 1 << 62 else None
    except Unreadable:
        return None


def _contents(cell: Ref) -> Ref | None:
    try:
        return cell.contents
    except Unreadable:
        return None


def _bound_to_exit(ref: Ref) -> Ref | None:
    try:
        return ref.method_self if ref.function_name in _EXITS else None
    except Unreadable:
        return None


class StackReader:
    """Reads the stacks of one interpreter's threads."""

    def __init__(self, heap: Heap) -> None:
        self.heap = heap
        self.layout = heap.layout
        self.memory = heap.memory
        self._codes = CodeCache(heap)

    def read(self, thread: int) -> list[Frame]:
        """The stack of the thread state at `thread`, innermost first.

        Raises `Unreadable` ("changing") rather than return a mixture of two stacks.
        """
        failure = Unreadable("changing", "the thread calls faster than its stack can be read")
        frames: list[Frame] | None = None
        before: list[tuple[int, int]] = []
        for _ in range(_ATTEMPTS):
            try:
                first = self._current_frame(thread)
                raw = self._snapshot(first)
                stood_still = self._current_frame(thread) == first
                now = [(address, _word(data, at + self.layout.frame_code)) for address, data, at in raw]
                known = {address: self._codes.code_at(address) for address in {code for _, code in now}}
                codes = [known[code] for _, code in now]
                read = [self._frame(frame, code) for frame, code in zip(raw, codes, strict=True)]
                # A finalizer that runs while its caller is cleared leaves a gap: believed when seen twice.
                if self._is_seamless(raw, codes) or (stood_still and now == before):
                    frames = [frame for frame in read if frame is not None]
                    if stood_still:
                        break
                before = now
            except Unreadable as error:
                if error.reason in ("gone", "permission", "closed"):
                    raise
                failure = error
        if frames is None:
            raise failure
        return frames

    def read_suspended(self, generator: Ref) -> Frame | None:
        """The frame of a generator or coroutine that waits; None for other objects, or if it has ended."""
        kind = generator.kind
        if not (kind.is_builtin("generator") or kind.is_builtin("coroutine")):
            return None
        # The frame is the last part of the object; only its variables come behind the type's basic size.
        address = generator.address + kind.basic_size - self.layout.frame_localsplus
        if self.memory.u8(address - _STATE_BEFORE_FRAME) in _ENDED:
            return None
        start, data = self._span(address, [])
        at = address - start
        code = self._codes.code_at(_word(data, at + self.layout.frame_code))
        return self._frame((address, data, at), code)

    def _is_seamless(self, raw: list[RawFrame], codes: list[Code]) -> bool:
        """Whether each frame on the thread's own stack begins where the next outer one ends."""
        begin = 0
        for (address, data, at), code in zip(raw, codes, strict=True):
            if data[at + self.layout.frame_owner] != _OWNED_BY_THREAD:
                continue
            end = address + self.layout.frame_localsplus + 8 * code.slot_count
            if begin and begin != end and begin % PAGE not in _FIRST_IN_CHUNK:
                return False
            begin = address
        return True

    def _current_frame(self, thread: int) -> int:
        layout = self.layout
        address = self.memory.u64(thread + layout.thread_frame)
        if layout.cframe_current_frame >= 0 and address:
            address = self.memory.u64(address + layout.cframe_current_frame)
        return address

    def _snapshot(self, address: int) -> list[RawFrame]:
        """The frames from `address` outwards as raw memory."""
        layout = self.layout
        spans: list[tuple[int, bytes]] = []
        found: list[RawFrame] = []
        owner = layout.owner_shim
        for _ in range(2 * MAX_FRAMES):  # entry points from C count too
            if not address or len(found) == MAX_FRAMES:
                break
            start, data = self._span(address, spans)
            at = address - start
            owner = data[at + layout.frame_owner]
            if owner < layout.owner_shim:
                found.append((address, data, at))
            previous = _word(data, at + layout.frame_previous)
            if previous == address:
                raise Unreadable("changing", f"frame at {address:#x} calls itself")
            address = previous
        has_shims = layout.owner_shim < _NO_SHIMS
        ends_well = owner >= layout.owner_shim if has_shims else owner != _OWNED_BY_GENERATOR
        if found and not address and not ends_well:  # the outermost frame is an entry point from C
            raise Unreadable("changing", "the stack has no end")
        return found

    def _span(self, address: int, spans: list[tuple[int, bytes]]) -> tuple[int, bytes]:
        """Memory around a frame: callers lie just below, so that one read mostly gives the whole stack."""
        head = self.layout.frame_localsplus
        for start, data in reversed(spans):
            if start <= address and address + head <= start + len(data):
                return start, data
        size = head + 8 * _SLOTS_AT_ONCE
        for before in (_BELOW, address % PAGE, 0):
            try:
                data = self.memory.read_some(address - before, before + size)
            except Unreadable as error:
                if error.reason != "not mapped" or not before:
                    raise
                continue
            if len(data) >= before + head:
                spans.append((address - before, data))
                return spans[-1]
        raise Unreadable("not mapped", f"frame at {address:#x}")

    def _frame(self, raw: RawFrame, code: Code) -> Frame | None:
        """A raw frame, interpreted; None if its function has not begun yet."""
        layout = self.layout
        address, data, at = raw
        distance = _signed(data, at + layout.frame_instruction) - code.first_instruction
        unit = distance // 2
        if distance % 2 or not -1 <= unit < code.unit_count:
            raise Unreadable("changing", f"instruction outside of its function at {address:#x}")
        if data[at + layout.frame_owner] != _OWNED_BY_GENERATOR and unit < code.first_traceable:
            return None
        size = layout.frame_localsplus + 8 * code.slot_count
        if len(data) < at + size:
            again = self.memory.read(address, size)
            same = layout.frame_code, layout.frame_instruction
            if any(_word(again, offset) != _word(data, at + offset) for offset in same):
                raise Unreadable("changing", f"frame at {address:#x}")
            data, at = again, 0
        slots = struct.unpack_from(f"<{code.slot_count}Q", data, at + layout.frame_localsplus)
        return Frame(self.heap, code, unit, data[at : at + layout.frame_localsplus], slots)


def _word(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def _signed(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little", signed=True)
