"""`Ref`: one object of a running interpreter, read on demand."""

from __future__ import annotations

from .attributes import find_attribute, instance_table
from .classes import DICT, HEAP_TYPE, TYPE, Class, Heap
from .containers import (
    Table,
    find_key,
    read_index,
    read_length,
    read_sequence,
    read_table,
)
from .layouts import Layout
from .locks import (
    RLockState,
    SemLockState,
    SocketState,
    lock_address,
    lock_is_held,
    rlock_state,
    semlock_state,
    socket_state,
)
from .memory import ProcessMemory, Unreadable
from .values import LIMIT, read_text, read_value

_BUILTIN = "builtin_function_or_method"


class Ref:
    """An object in another process, by address.

    Every method reads the object as it is now; all raise `Unreadable` where the memory can't be read or
    doesn't hold what it should (the object may be freed at any time: nothing here keeps it alive).
    """

    __slots__ = ("address", "heap")

    def __init__(self, address: int, heap: Heap) -> None:
        self.address = address
        self.heap = heap

    def __repr__(self) -> str:
        return f"<Ref {self.address:#x}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ref) and (self.address, self.heap) == (other.address, other.heap)

    def __hash__(self) -> int:
        return hash(self.address)

    @property
    def memory(self) -> ProcessMemory:
        """The memory of the object's process."""
        return self.heap.memory

    @property
    def layout(self) -> Layout:
        """The layout of the object's interpreter."""
        return self.heap.layout

    @property
    def kind(self) -> Class:
        """The object's type."""
        return self.heap.class_of(self.address)

    @property
    def type_name(self) -> str:
        """`module.qualname` of the object's type; only the name for built-in ones."""
        kind = self.kind
        if not kind.flags & HEAP_TYPE or "." in kind.name:
            return kind.name
        qualname = read_text(self.heap, self.memory.u64(kind.address + self.layout.type_qualname))
        module = find_key(self.heap, read_table(self.heap, kind.dict_address), "__module__")
        return qualname if module is None else f"{read_text(self.heap, module)}.{qualname}"

    @property
    def is_none(self) -> bool:
        """Whether this is None."""
        return self.kind.is_builtin("NoneType")

    @property
    def is_type(self) -> bool:
        """Whether this is a class."""
        return bool(self.kind.flags & TYPE)

    def value(self, limit: int = LIMIT) -> int | float | bool | str | bytes | None:
        """The value of an int, float, bool, None, str or bytes (these two cut at `limit`)."""
        return read_value(self.heap, self.address, self.kind, limit)

    def attribute(self, name: str) -> Ref | None:
        """The attribute `name`; None if it is missing or a property (nothing is called)."""
        return self._ref(find_attribute(self.heap, self.address, self.kind, name))

    def attributes(self) -> dict[str, Ref]:
        """The instance's own attributes (its `__dict__`), at most 10,000."""
        table = instance_table(self.heap, self.address, self.kind)
        return {} if table is None else self._named(table)

    def item(self, key: int | str) -> Ref | None:
        """The item of a list, tuple, deque (negative index allowed) or dict; None if there is none."""
        kind = self.kind
        if kind.flags & DICT:
            return self._ref(find_key(self.heap, read_table(self.heap, self.address), key))
        return None if isinstance(key, str) else self._ref(read_index(self.heap, self.address, kind, key))

    def early_item(self, key: str, most: int) -> Ref | None:
        """Like `item`, but only among the first `most` keys of a dict."""
        table = read_table(self.heap, self.address)
        hashes = None if table.hashes is None else table.hashes[:most]
        early = Table(table.address, table.keys[:most], table.values[:most], hashes)
        return self._ref(find_key(self.heap, early, key))

    def keys(self) -> list[Ref]:
        """The keys of a dict, at most 10,000; empty for other objects."""
        return [key for key, _ in self.items()]

    def values(self) -> list[Ref]:
        """The values of a dict, or the items of a list, tuple or deque; at most 10,000."""
        kind = self.kind
        if kind.flags & DICT:
            return [value for _, value in self.items()]
        found = read_sequence(self.heap, self.address, kind)
        return [Ref(address, self.heap) for address in found or () if address]

    def items(self) -> list[tuple[Ref, Ref]]:
        """The pairs of a dict, at most 10,000; empty for other objects."""
        if not self.kind.flags & DICT:
            return []
        table = read_table(self.heap, self.address)
        pairs = zip(table.keys, table.values, strict=True)
        return [(Ref(key, self.heap), Ref(value, self.heap)) for key, value in pairs if key and value]

    def length(self) -> int | None:
        """`len()` of a list, tuple, dict, set, deque, str or bytes; None for other objects."""
        return read_length(self.heap, self.address, self.kind)

    @property
    def contents(self) -> Ref | None:
        """What a closure's cell holds; None if it is empty. Any other object stands for itself."""
        if not self.kind.is_builtin("cell"):
            return self
        return self._ref(self.memory.u64(self.address + self.layout.cell_contents))

    @property
    def function_globals(self) -> Ref | None:
        """The globals of a function or bound method; None for other objects."""
        function = self._function()
        if not function.kind.is_builtin("function"):
            return None
        return self._ref(self.memory.u64(function.address + self.layout.function_globals))

    @property
    def method_self(self) -> Ref | None:
        """What a bound method or built-in method is bound to; None for other objects."""
        kind = self.kind
        if kind.is_builtin("method"):
            return self._ref(self.memory.u64(self.address + self.layout.method_self))
        if _BUILTIN in kind.lineage:
            return self._ref(self.memory.u64(self.address + self.layout.builtin_self))
        return None

    @property
    def function_name(self) -> str | None:
        """The name of a function, bound method or built-in; None for other objects."""
        function = self._function()
        kind = function.kind
        if kind.is_builtin("function"):
            return read_text(self.heap, self.memory.u64(function.address + self.layout.function_name))
        if _BUILTIN in kind.lineage:
            definition = self.memory.u64(function.address + self.layout.builtin_definition)
            return self.memory.cstring(self.memory.u64(definition))
        return None

    @property
    def function_place(self) -> tuple[str, str, int] | None:
        """File, qualified name and first line of a Python function or method; None for other objects."""
        function = self._function()
        if not function.kind.is_builtin("function"):
            return None
        layout, memory = self.layout, self.memory
        code = memory.u64(function.address + layout.function_code)
        if not self.heap.class_of(code).is_builtin("code"):
            raise Unreadable("not a code object", f"at {code:#x}")
        texts = [read_text(self.heap, memory.u64(code + offset)) for offset in (layout.code_file, layout.code_qualname)]
        return texts[0], texts[1], memory.i32(code + layout.code_first_line)

    def _function(self) -> Ref:
        """The function of a bound method; anything else stands for itself."""
        if self.kind.is_builtin("method"):
            return Ref(self.memory.u64(self.address + self.layout.method_function), self.heap)
        return self

    def thread_lock_address(self) -> int | None:
        """The semaphore (a futex) that waiters of a thread lock or RLock sleep on; None for other objects."""
        return lock_address(self.heap, self.address, self.kind)

    @property
    def locked(self) -> bool | None:
        """Whether a thread lock or RLock is held; None for other objects."""
        return lock_is_held(self.heap, self.address, self.kind)

    def rlock(self) -> RLockState | None:
        """Owner, count and semaphore of an RLock; None for other objects."""
        return rlock_state(self.heap, self.address, self.kind)

    def semlock(self) -> SemLockState | None:
        """The state of a `_multiprocessing.SemLock`; None for other objects."""
        return semlock_state(self.heap, self.address, self.kind)

    def socket(self) -> SocketState | None:
        """Descriptor and timeout of a socket; None for other objects."""
        return socket_state(self.heap, self.address, self.kind)

    def pattern_length(self) -> int | None:
        """The length of a compiled regular expression's source; None for other objects."""
        if "re.Pattern" not in self.kind.lineage:
            return None
        pattern = self.attribute("pattern")
        return None if pattern is None else pattern.length()

    def _named(self, table: Table) -> dict[str, Ref]:
        pairs = zip(table.keys, table.values, strict=True)
        return {read_text(self.heap, key): Ref(value, self.heap) for key, value in pairs if key and value}

    def _ref(self, address: int | None) -> Ref | None:
        return Ref(address, self.heap) if address else None


def read_names(ref: Ref) -> dict[str, Ref]:
    """The pairs of a dict whose keys are text, as globals and class bodies are."""
    named: dict[str, Ref] = {}
    for key, value in ref.items():
        try:
            name = key.value()
        except Unreadable:
            continue
        if isinstance(name, str):
            named[name] = value
    return named
