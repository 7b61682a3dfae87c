"""One sample of one stack, the same whether it was read from memory or came from py-spy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unstall.evidence.stacks import Scalar
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref

LARGEST_BITS = 1000  # of a whole number that is kept as a number: a float can hold no larger one


@dataclass(frozen=True, slots=True)
class SampledLocal:
    """A local variable: where it is, and how to read it."""

    address: int
    type: str | None = None
    known: Scalar = None
    ref: Ref | None = None

    def type_name(self) -> str:
        """Its type, or "?"."""
        if self.ref is None:
            return self.type or "?"
        try:
            return self.ref.type_name
        except Unreadable:
            return "?"

    def value(self) -> Scalar:
        """Its value if it is a number, a truth value or a text; else None."""
        return scalar(self.ref) if self.ref is not None else self.known

    def size(self) -> int | None:
        """Its length, if it has one that can be read."""
        try:
            return self.ref.length() if self.ref is not None else None
        except Unreadable:
            return None


@dataclass(frozen=True, slots=True)
class SampledFrame:
    """A frame at one moment. `evaluate` reads an expression in it."""

    file: str
    function: str
    first_line: int
    line: int
    instruction: int
    user: bool
    read_locals: Callable[[], dict[str, SampledLocal]]
    evaluate: Callable[[str], Ref | None] | None = None
    read_contexts: Callable[[], list[Ref]] | None = None
    read_suspended: Callable[[], list[SampledFrame]] | None = None
    read_walks: Callable[[], list[tuple[Ref, int]]] | None = None

    @property
    def bare_name(self) -> str:
        """The function's name without its class."""
        return self.function.rsplit(".", 1)[-1]

    def locals(self) -> dict[str, SampledLocal]:
        """The local variables; none where they can't be read."""
        try:
            return self.read_locals()
        except Unreadable:
            return {}

    def local(self, name: str) -> SampledLocal | None:
        """The local variable of that name."""
        return self.locals().get(name)

    def value(self, name: str) -> Scalar:
        """The value of a local variable."""
        found = self.local(name)
        return found.value() if found else None

    def ref(self, expression: str) -> Ref | None:
        """The object that an expression stands for here; None where it can't be read."""
        if self.evaluate is None:
            return None
        try:
            return self.evaluate(expression)
        except Unreadable:
            return None

    def contexts(self) -> list[Ref]:
        """The objects whose `with` block this frame is inside of, innermost last."""
        try:
            return self.read_contexts() if self.read_contexts else []
        except Unreadable:
            return []

    def walks(self) -> list[tuple[Ref, int]]:
        """The objects that `for` loops here go over by index, and the next index of each."""
        try:
            return self.read_walks() if self.read_walks else []
        except Unreadable:
            return []

    def suspended(self) -> list[SampledFrame]:
        """The generators, waiting at their `yield`, of the @contextmanager blocks that this frame is inside of."""
        try:
            return self.read_suspended() if self.read_suspended else []
        except Unreadable:
            return []


@dataclass(frozen=True, slots=True)
class SampledStack:
    """The stack of one thread at one moment, innermost frame first."""

    pid: int
    tid: int
    ident: int
    name: str
    frames: tuple[SampledFrame, ...]
    holds_gil: bool = False
    source: str = "memory"

    def find(self, file_end: str, *names: str) -> SampledFrame | None:
        """The innermost frame of one of these functions."""
        for frame in self.frames:
            if frame.file.endswith(file_end) and frame.bare_name in names:
                return frame
        return None


def scalar(ref: Ref | None) -> Scalar:
    """A number, truth value or text, read from memory; None for everything else."""
    if ref is None:
        return None
    try:
        found = ref.value(200)
    except Unreadable:
        return None
    if isinstance(found, int) and found.bit_length() > LARGEST_BITS:
        return f"integer of {found.bit_length()} bits, {hash(found):x}"
    return None if isinstance(found, bytes) else found
