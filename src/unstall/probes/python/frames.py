"""`Interpreter`: the threads, modules and GIL of a running CPython; `Frame` is in stacks.py."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType

from .classes import MAX_ITEMS, Heap
from .layouts import find_runtime
from .memory import ProcessMemory, Unreadable
from .objects import Ref
from .stacks import Frame, StackReader

__all__ = ["Frame", "Interpreter", "ThreadState"]

_MAX_INTERPRETERS = 100
_FIRST_NAMES = 16


@dataclass(frozen=True)
class ThreadState:
    """One Python thread; `frames()` reads its stack anew each time."""

    ident: int
    native_id: int
    address: int
    _interpreter: Interpreter = field(repr=False)

    def frames(self) -> list[Frame]:
        """The stack, innermost first, at most 1,000 frames; empty if no Python code runs in the thread."""
        return self._interpreter.read_stack(self.address)


class Interpreter:
    """CPython in a running process. Keeps what it learned, so that reading again is fast."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.memory = ProcessMemory(pid)
        try:
            runtime = find_runtime(self.memory)
            self.version = runtime.version
            self.layout = runtime.layout
            self.heap = Heap(self.memory, runtime.layout)
            self._runtime = runtime.address
            self._stacks = StackReader(self.heap)
            self._native_ids: dict[int, int] = {}
            self._modules_by_file: dict[str, Ref] = {}
            self._main_interpreter()
        except Unreadable:
            self.memory.close()
            raise

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the target's memory; its `Ref`s can't be read afterwards."""
        self.memory.close()

    def threads(self) -> list[ThreadState]:
        """All Python threads, newest first, of all interpreters in the process."""
        layout, found = self.layout, []
        main_ident = self.main_thread_ident
        for interpreter in self._interpreters():
            address, left = self.memory.u64(interpreter + layout.interpreter_threads), MAX_ITEMS
            while address and left:
                data = self.memory.read(address, layout.thread_native_id + 8)
                ident = _word(data, layout.thread_ident)
                native_id = self._native_id(_word(data, layout.thread_native_id), ident == main_ident)
                found.append(ThreadState(ident, native_id, address, self))
                address, left = _word(data, layout.thread_next), left - 1
        return found

    def suspended_frame(self, generator: Ref) -> Frame | None:
        """The frame of a generator that waits at a `yield`; None for other objects."""
        return self._stacks.read_suspended(generator)

    @property
    def main_thread_ident(self) -> int:
        """The ident of the thread that started the interpreter (or of the forked child's first)."""
        return self.memory.u64(self._runtime + self.layout.runtime_main_thread)

    def gil_holder(self) -> int | None:
        """The native id of the thread that holds the GIL of the main interpreter; None if it is free."""
        layout = self.layout
        if layout.version == (3, 11):
            gil = self._runtime + layout.gil
        else:
            gil = self.memory.u64(self._main_interpreter() + layout.gil)
        data = self.memory.read(gil, layout.gil_locked + 4)
        holder = _word(data, layout.gil_last_holder)
        if int.from_bytes(data[layout.gil_locked :], "little", signed=True) != 1 or not holder:
            return None
        ident = self.memory.u64(holder + layout.thread_ident)
        native_id = self.memory.u64(holder + layout.thread_native_id)
        return self._native_id(native_id, ident == self.main_thread_ident)

    def modules(self) -> Ref:
        """`sys.modules`."""
        return Ref(self.memory.u64(self._main_interpreter() + self.layout.interpreter_modules), self.heap)

    def module_of(self, file: str) -> Ref | None:
        """The globals of the module whose `__file__` is `file`, `__main__` included."""
        known = self._modules_by_file.get(file)
        if known is not None and _file_of(known) == file:
            return known
        for module in self.modules().values():
            names = _namespace(module)
            if names is not None and _file_of(names) == file:
                self._modules_by_file[file] = names
                return names
        return None

    def read_stack(self, thread: int) -> list[Frame]:
        """The stack of the thread state at `thread`."""
        return self._stacks.read(thread)

    def _interpreters(self) -> Iterator[int]:
        """All interpreters, newest first: the main one comes last."""
        address = self.memory.u64(self._runtime + self.layout.runtime_interpreters)
        for _ in range(_MAX_INTERPRETERS):
            if not address:
                return
            yield address
            address = self.memory.u64(address + self.layout.interpreter_next)

    def _main_interpreter(self) -> int:
        addresses = list(self._interpreters())
        if not addresses:
            raise Unreadable("not initialized", f"no interpreter in process {self.pid} (yet, or any more)")
        return addresses[-1]

    def _native_id(self, stored: int, is_main: bool) -> int:
        """The thread's id in our /proc.

        What the interpreter stored is its parent's id in a forked child (3.11), and that of another pid
        namespace in a container.
        """
        if stored not in self._native_ids:
            self._native_ids = dict(_task_ids(self.pid))
            if is_main:
                self._native_ids.setdefault(stored, self.pid)
        return self._native_ids.get(stored, stored)


def _task_ids(pid: int) -> Iterator[tuple[int, int]]:
    """Thread ids of the process: within its own pid namespace, and in ours."""
    try:
        names = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for name in names[:MAX_ITEMS]:
        inner = name
        try:
            with open(f"/proc/{pid}/task/{name}/status", encoding="utf-8", errors="replace") as file:
                inner = next((line for line in file if line.startswith("NSpid:")), inner).split()[-1]
        except OSError:
            pass
        yield int(inner), int(name)


def _namespace(module: Ref) -> Ref | None:
    """A module's globals."""
    try:
        kind = module.kind
        if "module" not in kind.lineage or kind.dict_offset <= 0:
            return None
        address = module.memory.u64(module.address + kind.dict_offset)
        return Ref(address, module.heap) if address else None
    except Unreadable:
        return None


def _file_of(names: Ref) -> str | None:
    """`__file__` from a module's globals; importing sets it among the very first names."""
    try:
        file = names.early_item("__file__", _FIRST_NAMES)
        value = None if file is None else file.value()
    except Unreadable:
        return None
    return value if isinstance(value, str) else None


def _word(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")
