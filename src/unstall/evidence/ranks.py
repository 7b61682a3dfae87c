"""Ranks: the processes of a distributed training, and which call of torch.distributed each of them is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from unstall.evidence.stacks import Frame, Stacks
from unstall.model.diagnosis import Unexamined
from unstall.model.evidence import Evidence
from unstall.model.finding import Finding, Location

JOINING = "init_process_group"  # the call in which ranks wait for each other for the first time
JOIN = "Join"  # the context manager for uneven inputs: who left early answers the calls of the others
BACKWARD = "backward"  # DDP adds up the gradients inside of it
SOMETHING = "wait"  # a call that was begun before; which one can't be seen
LARGEST_WORLD = 100_000
_LOOPBACK = ("127.", "localhost", "[::1]", "::1", "0.0.0.0")
_ONE_WAY = {"send", "isend", "send_object_list"}
_FROM_ONE = {"recv", "irecv", "recv_object_list"}
_WITH_ROOT = {"broadcast", "scatter", "gather", "reduce", "broadcast_object_list", "gather_object"} | {
    "scatter_object_list"
}


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call of torch.distributed that a rank is in."""

    name: str
    group: tuple[int, ...] = ()  # the ranks that take part; empty where that is not known: all
    other: int | None = None  # the rank that it names: the source of a broadcast, whom it receives from
    vague: bool = False  # there are several groups, and which one it is for can't be seen

    @property
    def text(self) -> str:
        """The call in words."""
        if self.name == BACKWARD:
            return "backward(), which adds up the gradients of all ranks"
        if self.name == SOMETHING:
            return "the end of a collective that was begun before"
        if self.name == JOIN:
            return "the end of `Join`"
        if self.other is None:
            return f"{self.name}()"
        if self.name in _FROM_ONE:
            return f"{self.name}() from rank {self.other}"
        return f"{self.name}() to rank {self.other}" if self.name in _ONE_WAY else f"{self.name}() of rank {self.other}"

    def meets(self, other: Call, *, me: int, them: int) -> bool:
        """Whether rank `me` in this call and rank `them` in the other one have come together."""
        if JOIN in (self.name, other.name):
            return True
        if self.name in _FROM_ONE or self.name in _ONE_WAY:
            sides = {self.name in _FROM_ONE, other.name in _FROM_ONE}
            pairs = other.name in _FROM_ONE or other.name in _ONE_WAY
            return pairs and len(sides) == 2 and other.other in (None, me) and self.other in (None, them)
        return (self.name, self.group) == (other.name, other.group) and self.other == other.other

    def needs(self, me: int, everybody: tuple[int, ...]) -> tuple[int, ...]:
        """The ranks without which rank `me` can't end this call."""
        pair = self.name in _FROM_ONE or self.name in _ONE_WAY
        if self.other is not None and (pair or (self.name in _WITH_ROOT and self.other != me)):
            return (self.other,)
        return tuple(one for one in self.group or everybody if one != me)


class Rank(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rank: where it runs, which call it is in, and how far it got."""

    number: int
    pid: int = 0
    tid: int = 0  # of the thread that trains, where that is not the main one
    local: int | None = None
    world: int = 0
    master: str = ""  # where it meets the others: address and port
    node: str = ""  # of another machine, whose supervisor left its state; "" where it was looked at itself
    call: Call | None = None
    pending: bool = False  # one of its threads waits for another rank's data
    delivered: int | None = None  # batches, where they were counted
    steps: int | None = None
    doing: str = ""  # of a rank on another machine: what its supervisor saw
    where: tuple[Location, ...] = ()  # of such a rank: its own lines, innermost first
    quiet_s: float | None = None  # … how long it has not moved
    found: tuple[Finding, ...] = ()  # … and what is the matter with it
    exit_code: int | None = None
    exit_signal: int | None = None

    @property
    def thread(self) -> int:
        """The thread that trains, by its kernel id."""
        return self.tid or self.pid

    @property
    def ended(self) -> bool:
        """It was there, and is no more."""
        return self.exit_code is not None or self.exit_signal is not None

    @property
    def end(self) -> str:
        """How it ended, in words."""
        return f"was killed by signal {self.exit_signal}" if self.exit_signal else f"ended with code {self.exit_code}"


class Ranks(Evidence, frozen=True):
    """All ranks that could be seen."""

    kind: ClassVar[str] = "ranks"

    world: int
    all: tuple[Rank, ...] = ()

    def get(self, pid: int) -> Rank | None:
        """The rank that is this process."""
        return next((one for one in self.all if one.pid == pid and not one.node), None)

    def number(self, number: int) -> Rank | None:
        """The rank of that number."""
        return next((one for one in self.all if one.number == number), None)

    def with_others(self, others: Iterable[Rank]) -> Ranks:
        """With ranks of other machines, where they are not known here."""
        known = {one.number for one in self.all}
        more = {one.number: one for one in others if one.number not in known}
        return msgspec.structs.replace(self, all=tuple(sorted((*self.all, *more.values()), key=lambda one: one.number)))

    @property
    def here(self) -> bool:
        """All ranks must be on this machine: they meet at its loopback address."""
        return all(one.master.startswith(_LOOPBACK) for one in self.all)

    @property
    def absent(self) -> tuple[int, ...]:
        """The numbers of the ranks that were not seen."""
        known = {one.number for one in self.all}
        return tuple(one for one in self.everybody if one not in known)

    @property
    def everybody(self) -> tuple[int, ...]:
        """All numbers."""
        return tuple(range(min(self.world, LARGEST_WORLD)))


def unseen(ranks: Ranks) -> tuple[Unexamined, ...]:
    """The ranks that nobody has told of, where they may run on other machines."""
    if not ranks.absent or ranks.here:
        return ()
    hint = "`unstall run --runs DIR` on every machine, with a folder that all of them see, puts their ranks together"
    return (Unexamined(names(ranks.absent), "they are not on this machine, or were never started", hint),)


def names(numbers: tuple[int, ...]) -> str:
    """Ranks in words: "rank 3", "ranks 0, 1 and 5", "ranks 0–510"."""
    spans: list[list[int]] = []
    for one in sorted(numbers):
        if spans and one == spans[-1][-1] + 1:
            spans[-1].append(one)
        else:
            spans.append([one])
    parts = [text for span in spans for text in _span(span)]
    if not parts:
        return "no rank"
    if len(numbers) == 1:
        return f"rank {parts[0]}"
    return "ranks " + (" and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0])


def _span(span: list[int]) -> list[str]:
    return [f"{span[0]}–{span[-1]}"] if len(span) > 2 else [str(one) for one in span]


def is_of_training(frame: Frame) -> bool:
    """The user's own code, or that of a package which runs the training for them; not torch's, not Python's."""
    return frame.user or ("-packages/" in frame.file and "/torch/" not in frame.file)


class Group(msgspec.Struct, frozen=True):
    """Ranks that are at the same place."""

    ranks: tuple[int, ...]
    place: str
    waits: bool  # in a call of torch.distributed

    @property
    def text(self) -> str:
        """The group in words."""
        return f"{names(self.ranks)} {'is' if len(self.ranks) == 1 else 'are'} {self.place}"


def merge(places: Mapping[int, tuple[str, bool]]) -> list[Group]:
    """Ranks at the same place as groups, the largest first. For each rank: its place, and whether it waits for others."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for number, place in places.items():
        groups.setdefault(place, []).append(number)
    found = [Group(tuple(sorted(ranks)), place, waits) for (place, waits), ranks in groups.items()]
    return sorted(found, key=lambda one: (-len(one.ranks), one.ranks))


def outlier(groups: list[Group]) -> Group | None:
    """The smallest group that is not in a call in which the others wait; None where nobody waits."""
    if not any(one.waits for one in groups):
        return None
    return min((one for one in groups if not one.waits), key=lambda one: len(one.ranks), default=None)


def grouped(ranks: Ranks, stacks: Stacks) -> list[Group]:
    """Where all ranks are."""
    places: dict[int, tuple[str, bool]] = {}
    by_thread = {one.tid: one for one in stacks.all}
    for one in ranks.all:
        stack = by_thread.get(one.thread) if not one.node else None
        frame = next(stack.user_frames(), None) if stack else None
        place = (frame.file, frame.line) if frame else (one.where[0].file, one.where[0].line) if one.where else None
        at = f" at {place[0].rsplit('/', 1)[-1]}:{place[1]}" if place else ""
        if one.ended:
            places[one.number] = f"gone: it {one.end}", False
        elif one.call is not None:
            places[one.number] = f"in {one.call.text.split(',')[0]}{at}", True
        else:
            places[one.number] = (at.strip() or one.doing or "at a place that was not seen"), False
    return merge(places)
