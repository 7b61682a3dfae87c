"""Python stacks, and what moved in them while they were sampled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence
from unstall.model.finding import Location

Scalar = bool | int | float | str | None


class Local(msgspec.Struct, frozen=True, omit_defaults=True):
    """A local variable: its type, and its value where the diagnosis uses it."""

    name: str
    type: str
    value: Scalar = None
    size: int | None = None
    address: int = 0


class Context(msgspec.Struct, frozen=True, omit_defaults=True):
    """An object whose `with` block a frame is inside of, or whose `acquire()` it has called before."""

    type: str
    address: int
    lock: int = 0  # address of the futex word or semaphore under it
    text: str = ""
    line: int = 0


class Walk(msgspec.Struct, frozen=True, omit_defaults=True):
    """A `for` loop that goes over an object by index, until that raises IndexError."""

    type: str
    index: int  # the next one
    length: int | None = None  # what the object's `__len__` says


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """One frame of one stack, as it was in the last sample, with its history."""

    file: str
    line: int
    function: str
    first_line: int = 0
    user: bool = False  # the user's own code: not Python's, not an installed package's
    locals: tuple[Local, ...] = ()
    contexts: tuple[Context, ...] = ()
    lines: tuple[int, ...] = ()  # every line it was seen at
    changed: tuple[str, ...] = ()  # locals that changed between samples
    watched: dict[str, tuple[Scalar, ...]] = {}  # what the loop's way out depends on, over the samples
    moved: bool = False  # it was seen at different instructions
    walks: tuple[Walk, ...] = ()
    turns: int = 0  # how often it was seen further back than in the sample before

    def local(self, name: str) -> Local | None:
        """The local variable of that name."""
        return next((one for one in self.locals if one.name == name), None)

    def value(self, name: str) -> Scalar:
        """The value of a local variable; None where it is not known."""
        found = self.local(name)
        return found.value if found else None

    @property
    def bare_name(self) -> str:
        """The function's name without its class."""
        return self.function.rsplit(".", 1)[-1]

    def calls(self, file_end: str, *names: str) -> bool:
        """Whether this frame is one of these functions in a file with that ending."""
        return self.file.endswith(file_end) and (not names or self.bare_name in names)


class Stack(msgspec.Struct, frozen=True, omit_defaults=True):
    """The stack of one thread, innermost frame first."""

    pid: int
    tid: int
    name: str = ""
    ident: int = 0
    main: bool = False
    frames: tuple[Frame, ...] = ()
    samples: int = 1
    pivot: int = 0  # the outermost frame that moved; 0 where none did: the innermost
    moved: bool = False
    calls_seen: int = 0  # samples in which the frames above the pivot differed from the sample before
    holds_gil: bool = False
    source: str = ""
    pattern: str = ""  # of the regular expression that it is matching: "ambiguous" or "bounded"; see ambiguity.py

    def find(self, file_end: str, *names: str) -> Frame | None:
        """The innermost frame of one of these functions."""
        return next((frame for frame in self.frames if frame.calls(file_end, *names)), None)

    def user_frames(self) -> Iterator[Frame]:
        """The frames of the user's own code, innermost first."""
        return (frame for frame in self.frames if frame.user)

    def location(self, frame: Frame, role: str = "", line: int | None = None) -> Location:
        """Where a frame of this stack is."""
        return Location(frame.file, line or frame.line, frame.function, self.pid, role)


class Stacks(Evidence, frozen=True):
    """All stacks that could be read."""

    kind: ClassVar[str] = "stacks"

    all: tuple[Stack, ...] = ()
    span_s: float = 0.0

    def get(self, tid: int) -> Stack | None:
        """The stack of the thread with that kernel id."""
        return next((stack for stack in self.all if stack.tid == tid), None)

    def of(self, pid: int) -> tuple[Stack, ...]:
        """The stacks of a process."""
        return tuple(stack for stack in self.all if stack.pid == pid)

    def main(self, pid: int) -> Stack | None:
        """The stack of a process's main thread."""
        return next((stack for stack in self.of(pid) if stack.main), None)
