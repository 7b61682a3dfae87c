"""How a training ended: exit status, last words, and the last beat of each of its processes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

import msgspec

from unstall.model.evidence import Evidence
from unstall.model.finding import Location

UNCAUGHT, IN_WORKER, WHILE_SENDING = "uncaught", "in a worker", "while sending"
FETCH = "torch/utils/data/_utils/fetch.py"
_RELAYED = {"ChildFailedError", "ProcessRaisedException", "ProcessExitedException"}  # what torch's launchers raise
_CAUGHT = re.compile(r"Caught (\w+) in DataLoader worker process (\d+)")
_LOST = re.compile(r"DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\)")
_CUT_OFF = {"ConnectionResetError", "EOFError", "BrokenPipeError", "FileNotFoundError", "ConnectionRefusedError"}
_SIGTERM = 15
_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+), in (.+)$', re.MULTILINE)


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """One frame of a traceback."""

    file: str
    line: int
    function: str
    user: bool = False
    raises: bool = False  # the line is a `raise` statement


class Earlier(msgspec.Struct, frozen=True, omit_defaults=True):
    """An exception that another one was raised from, or during whose handling it was raised."""

    type: str
    message: str
    places: tuple[Place, ...] = ()
    deliberate: bool = False  # `raise … from`


class Variant(msgspec.Struct, frozen=True):
    """Samples of one batch that are made alike: what they are made of, how many, and the first few of them."""

    parts: dict[str, str]
    count: int
    indices: tuple[int | str | None, ...] = ()


class Maker(msgspec.Struct, frozen=True):
    """A function that makes samples or batches."""

    file: str
    line: int
    function: str


class OpenFiles(msgspec.Struct, frozen=True):
    """The descriptors of a process that had no more of them."""

    count: int
    limit: int
    most: tuple[tuple[str, int], ...] = ()


class Culprit(msgspec.Struct, frozen=True, omit_defaults=True):
    """An object that can't be pickled, found in what is sent to a new process."""

    sort: str
    owner: str = ""  # the class that holds it
    attribute: str = ""
    maker: Maker | None = None  # of a function: where it stands
    owner_init: Maker | None = None  # the owner's `__init__`


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """An exception that ended a process or a batch. `places` are outermost first."""

    kind: str
    pid: int
    type: str
    message: str
    number: int | None = None
    name: str = ""
    handed_over: str = ""  # what a worker had said of the exception that it handed over to this process last
    stage: str = "idle"
    sample: int | str | None = None
    places: tuple[Place, ...] = ()
    earlier: tuple[Earlier, ...] = ()  # the exceptions that it was raised from, the last one first
    repeated: Place | None = None  # the frame that stands very often in the traceback
    repeats: int = 0
    batch: tuple[Variant, ...] = ()  # where samples could not be put together
    makers: tuple[Maker, ...] = ()
    open_files: OpenFiles | None = None
    shared: tuple[str, ...] = ()  # files that it read through a handle of its parent process
    unpicklable: bool = False  # it can't be made again from its arguments in another process
    culprit: Culprit | None = None  # what kept a process from being started
    intact: tuple[str, ...] = ()  # … of which the part that it wanted was read again, without an error

    @property
    def role(self) -> str:
        """Where it happened."""
        return "main" if self.number is None else f"worker {self.number}"

    @property
    def first_line(self) -> str:
        """The exception as Python prints it, on one line."""
        text = self.message.strip().partition("\n")[0][:200]
        return f"{self.type}: {text}" if text else self.type

    @property
    def texts(self) -> str:
        """Everything that was said, the exceptions before it included."""
        return "\n".join([f"{self.type}: {self.message}", *(f"{one.type}: {one.message}" for one in self.earlier)])

    @property
    def where(self) -> tuple[Location, ...]:
        """The user's own lines: where it began, innermost first, then what wrapped it."""
        found: dict[tuple[str, int], Location] = {}
        for places in self._origins():
            for one in _mine(places):
                found.setdefault((one.file, one.line), self.at(one))
        return tuple(found.values())

    def _origins(self) -> list[tuple[Place, ...]]:
        """The tracebacks to look at, that of the first exception first.

        `raise B from A`, or a `raise B` in the handler of A, passes A on. Any other exception in a handler is a fault of the handler.
        """
        found, outer, passed_on = [self.places], self.places, True
        for one in self.earlier:
            mine = _mine(outer)
            passed_on = passed_on and (one.deliberate or bool(mine and mine[0].raises))
            places = one.places or _printed(one.message)
            if passed_on and _mine(places):
                found.insert(0, places)
            outer = places
        return found

    def at(self, place: Place) -> Location:
        """A place of this process."""
        return Location(place.file, place.line, place.function, self.pid, self.role)

    def passes(self, file_end: str, *functions: str) -> bool:
        """Whether a traceback leads through one of these functions."""
        return any(
            one.file.endswith(file_end) and (not functions or one.function in functions)
            for places in (self.places, *(before.places or _printed(before.message) for before in self.earlier))
            for one in places
        )

    @property
    def in_fetch(self) -> bool:
        """It was raised while samples were made, or put together."""
        return self.passes(FETCH, "fetch")

    @property
    def within_fetch(self) -> tuple[Location, ...]:
        """The user's own lines below torch's `fetch`: of the dataset, or of the collate function."""
        below = [place for place, one in enumerate(self.places) if one.file.endswith(FETCH)]
        return tuple(map(self.at, _mine(self.places[below[-1] :]))) if below else ()

    @property
    def at_sample(self) -> str:
        """The sample in words."""
        return "one sample" if self.sample is None else f"sample {self.sample}"


class Killed(msgspec.Struct, frozen=True):
    """A process of the training sent a signal that ends another one, or itself."""

    pid: int
    target: int
    signal: int
    number: int | None = None
    places: tuple[Place, ...] = ()


class Left(msgspec.Struct, frozen=True):
    """A worker ended itself, though nobody had told it to."""

    pid: int
    code: int
    number: int | None = None
    stage: str = "idle"
    sample: int | None = None
    places: tuple[Place, ...] = ()


class Fault(msgspec.Struct, frozen=True):
    """Where Python was when native code crashed; innermost last."""

    pid: int
    what: str
    places: tuple[Place, ...] = ()


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
    ended: bool = False  # a worker that went through its end in order
    largest_bytes: int | None = None  # of memory, as far as was seen

    @property
    def busy(self) -> bool:
        """It was making a batch."""
        return self.stage in ("fetching", "collating")


class Exit(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a child of the training ended: an exit code, or minus the signal that killed it."""

    pid: int
    code: int
    name: str = ""


class Growth(msgspec.Struct, frozen=True):
    """Where a process was when its memory was seen to grow by much, the last time."""

    pid: int
    places: tuple[Place, ...]


class Resources(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the training had of memory while it ran."""

    shm_size_bytes: int | None = None
    shm_least_free_bytes: int | None = None
    group_oom_kills: int | None = None  # in the training's own memory group; None: not known
    group_limit_bytes: int | None = None
    oom_killed: tuple[int, ...] = ()  # the processes that the kernel's messages name
    growth: tuple[Growth, ...] = ()


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
    killed: tuple[Killed, ...] = ()
    left: tuple[Left, ...] = ()
    faults: tuple[Fault, ...] = ()
    resources: Resources = Resources()

    @property
    def failed(self) -> bool:
        """It ended with an error, or was killed."""
        return bool(self.exit_code or self.signal)

    @property
    def last_words(self) -> Said | None:
        """The exception that ended the training: that of its main process, or of the first one that a launcher lost."""
        uncaught = [one for one in self.said if one.kind == UNCAUGHT]
        own = next((one for one in reversed(uncaught) if one.pid == self.pid), None)
        if own is not None and own.type not in _RELAYED:
            return own
        main = self.beat_of(self.pid)
        if own is None and main is not None and (main.delivered or main.samples or main.steps):
            return None  # it has trained itself, and says of itself what ended it
        trained = {one.pid for one in self.beats if one.number is None}
        others = [one for one in uncaught if one.pid != self.pid and (own is not None or one.pid in trained)]
        return others[0] if others else own

    @property
    def failure(self) -> Said | None:
        """What ended the training, where it was first said: in the worker, if main only raised it again."""
        last = self.last_words
        if last is None or not self.failed:
            return None
        caught = _CAUGHT.findall(last.texts)
        same = [one for one in self.said if one.kind == IN_WORKER and _is_of(one, caught)]
        return next((one for one in same if one.name == last.handed_over), same[0] if same else last)

    def lost_on_the_way(self, pid: int) -> Said | None:
        """The error with which a finished batch of a worker could not be sent."""
        return next((one for one in reversed(self.said) if one.kind == WHILE_SENDING and one.pid == pid), None)

    def beat_of(self, pid: int) -> LastBeat | None:
        """The last beat of a process."""
        return next((one for one in self.beats if one.pid == pid), None)

    @property
    def lost_worker(self) -> int | None:
        """The process number of the worker whose death ended the training, as far as torch says or lets see it."""
        last = self.last_words
        if last is None or not self.failed:
            return None
        named = [int(one) for some in _LOST.findall(last.texts) for one in some.split(",")]
        dead = {one.pid for one in self.exits} | {one.pid for one in self.left}
        if named:
            return next((one for one in named if one in dead), named[0])
        if last.type not in _CUT_OFF or not last.passes("torch/utils/data/dataloader.py"):
            return None
        killed = [one for one in self.exits if one.code < 0]
        suspects = [one.pid for one in killed if one.code != -_SIGTERM]
        # torch lets a worker end with 0 when its parent ends it by SIGTERM; but the fork server is another parent
        suspects += [one.pid for one in killed if one.code == -_SIGTERM and "ForkServer" not in one.name]
        suspects += [one.pid for one in self.left]
        suspects += [one.pid for one in self.beats if one.number is not None and self._vanished(one)]
        return next((one for one in suspects if self.beat_of(one) is not None), None)

    def _vanished(self, beat: LastBeat) -> bool:
        return beat.busy and not beat.ended and self.code_of(beat.pid) is None

    def code_of(self, pid: int) -> int | None:
        """The exit code of a child, or minus its signal; None where it was 0 or is not known."""
        return next((one.code for one in self.exits if one.pid == pid), None)

    def killer_of(self, pid: int, signal: int) -> Killed | None:
        """Who of the training itself has sent that signal."""
        return next((one for one in self.killed if one.target == pid and one.signal == signal), None)

    def loop(self) -> tuple[Location, ...]:
        """The line of the training loop that the end was met at."""
        return self.last_words.where if self.last_words is not None else ()


def _is_of(said: Said, caught: Iterable[tuple[str, str]]) -> bool:
    return any(said.type == kind and str(said.number) == number for kind, number in caught)


def _mine(places: Iterable[Place]) -> list[Place]:
    """The user's own, innermost first."""
    return [one for one in reversed(list(places)) if one.user]


def _printed(text: str) -> tuple[Place, ...]:
    """The frames of a traceback that came as text, as multiprocessing.Pool sends it."""
    return tuple(
        Place(
            file, int(line), function, user="/lib/python3" not in file and "-packages/" not in file and file[:1] == "/"
        )
        for file, line, function in _FRAME.findall(text)
    )
