"""How a training ended: exit status, last words, and the last beat of each of its processes."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence
from unstall.model.finding import Location

_SIGTERM = 15
_LOST = (  # what torch says in a rank when another one has ended
    "Connection closed by peer",
    "Connection reset by peer",
    "Broken pipe",
    "remote process exited",
    "Socket Timeout",
    "failed to recv, got 0 bytes",
)
UNCAUGHT, IN_WORKER, WHILE_SENDING = "uncaught", "in a worker", "while sending"


class Place(msgspec.Struct, frozen=True):
    """One frame of a traceback."""

    file: str
    line: int
    function: str
    user: bool = False


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """An exception that ended a process or a batch. `places` are outermost first."""

    kind: str
    pid: int
    type: str
    message: str
    number: int | None = None
    stage: str = "idle"
    sample: int | str | None = None
    places: tuple[Place, ...] = ()
    after: tuple[str, ...] = ()  # the exceptions that it was raised from

    @property
    def role(self) -> str:
        """Where it happened."""
        return "main" if self.number is None else f"worker {self.number}"

    @property
    def where(self) -> tuple[Location, ...]:
        """The user's own lines, innermost first."""
        mine = [one for one in reversed(self.places) if one.user]
        return tuple(Location(one.file, one.line, one.function, self.pid, self.role) for one in mine)

    @property
    def lost_connection(self) -> bool:
        """It says that another rank is gone."""
        return any(one in self.message for one in _LOST)

    def passes(self, file_end: str, *functions: str) -> bool:
        """Whether its traceback leads through one of these functions."""
        return any(one.file.endswith(file_end) and one.function in functions for one in self.places)


class LastBeat(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a process was at when it was last heard of."""

    pid: int
    number: int | None = None  # of a worker
    rank: int | None = None  # of a distributed training; its workers and helpers have it, too
    parent: int = 0
    phase: str = "starting"
    stage: str = "idle"
    sample: int | None = None
    samples: int = 0
    delivered: int = 0
    steps: int = 0


class Exit(msgspec.Struct, frozen=True):
    """How a child of the training ended: an exit code, or minus the signal that killed it."""

    pid: int
    code: int


class Ending(Evidence, frozen=True):
    """The end of a training, as its supervisor saw it."""

    kind: ClassVar[str] = "ending"

    pid: int
    exit_code: int | None = None
    signal: int | None = None
    said: tuple[Said, ...] = ()
    beats: tuple[LastBeat, ...] = ()
    exits: tuple[Exit, ...] = ()  # of children that did not end with 0, oldest first
    finished: tuple[int, ...] = ()  # ranks that ended with 0
    oom_kills: int = 0  # on this machine, while it ran
    open_files_limit: int | None = None

    @property
    def failed(self) -> bool:
        """It ended with an error, or was killed."""
        return bool(self.exit_code or self.signal)

    @property
    def last_words(self) -> Said | None:
        """The exception that ended the training's main process."""
        return next((one for one in reversed(self.said) if one.pid == self.pid and one.kind == UNCAUGHT), None)

    @property
    def ranks(self) -> tuple[LastBeat, ...]:
        """The main processes of the ranks, where it had several."""
        known = {one.pid: one.rank for one in self.beats}
        found = {
            one.pid: one
            for one in self.beats
            if one.rank is not None and one.number is None and known.get(one.parent) != one.rank
        }
        return tuple(sorted(found.values(), key=lambda one: (one.rank or 0, one.pid))) if len(found) > 1 else ()

    def words_of(self, pid: int) -> Said | None:
        """The exception that ended a process."""
        return next((one for one in reversed(self.said) if one.pid == pid and one.kind == UNCAUGHT), None)

    @property
    def rank_exits(self) -> tuple[Exit, ...]:
        """The ranks that did not end with 0, oldest first."""
        ranks = {one.pid for one in self.ranks}
        return tuple(one for one in self.exits if one.pid in ranks)

    @property
    def first_dead(self) -> Exit | None:
        """The rank whose end made the others end; None where all that ended badly only lost a connection."""
        exits = self.rank_exits
        own = [one for place, one in enumerate(exits) if not self._follows(one, first=place == 0)]
        return own[0] if own else None

    def _follows(self, one: Exit, *, first: bool) -> bool:
        """It lost the connection to a rank that was gone, or was ended by the launcher after another one."""
        words = self.words_of(one.pid)
        return words.lost_connection if words is not None else one.code == -_SIGTERM and not first

    def of_worker(self, pid: int) -> LastBeat | None:
        """A worker's last beat."""
        return next((one for one in self.beats if one.pid == pid), None)
