"""Samples a training that runs, to see what its time goes into: the lines that make samples, and who has the GIL."""

from __future__ import annotations

import collections
import random
import time
from dataclasses import dataclass, field

from unstall.evidence.timings import Background, Line
from unstall.probes import processes, procfs
from unstall.probes.loaders import FETCH
from unstall.probes.python.memory import Unreadable
from unstall.probes.samples import SampledFrame, SampledStack
from unstall.probes.stacks import StackSampler

SPAN_S = 2.0
PAUSE_S = 0.03
MOST_LINES = 20
MOST_WORKERS = 8
_Place = tuple[str, int, str]


@dataclass
class Tally:
    """How often which lines of the user's code were found on the stacks of some threads."""

    samples: int = 0
    within: collections.Counter[_Place] = field(default_factory=collections.Counter)
    own: collections.Counter[_Place] = field(default_factory=collections.Counter)

    def add(self, frames: list[SampledFrame]) -> None:
        """One sample: the user's frames, innermost first."""
        self.samples += 1
        places = [(one.file, one.line, one.function) for one in frames if one.user]
        self.within.update(set(places))
        self.own.update(places[:1])

    def lines(self) -> tuple[Line, ...]:
        """The lines, those that cost most first."""
        return tuple(
            Line(*place, share=round(count / self.samples, 3), own=round(self.own[place] / self.samples, 3))
            for place, count in self.within.most_common(MOST_LINES)
        )


@dataclass(frozen=True)
class Costs:
    """What was sampled."""

    makers: Tally  # threads that make samples
    background: tuple[Background, ...]
    blocked: float  # the share of samples in which the main thread wanted the GIL and did not have it


class CostSampler:
    """Samples the training's process and its workers for a short time. Reads only; pauses nobody."""

    def __init__(self, root: int, workers: list[int]) -> None:
        self.root = root
        self.sampler = StackSampler([root, *[pid for pid in workers if processes.is_python(pid)][:MOST_WORKERS]])
        self.makers = Tally()
        self.threads: dict[int, Tally] = {}
        self.gil: collections.Counter[int] = collections.Counter()
        self.blocked = self.rounds = 0

    def collect(self, span_s: float = SPAN_S) -> Costs:
        """Sample, and add up."""
        began = time.monotonic()
        cpu = {tid: procfs.cpu(self.root, tid)[0] for tid in procfs.threads(self.root)}
        try:
            while time.monotonic() < began + span_s:
                self._look()
                time.sleep(PAUSE_S * (0.5 + random.random()))  # not in step with the training
        finally:
            for interpreter in self.sampler.interpreters.values():
                interpreter.close()
        span = time.monotonic() - began
        background = [
            Background(
                tid=tid,
                name=procfs.read(f"/proc/{self.root}/task/{tid}/comm", 64) or "",
                gil=round(self.gil[tid] / max(1, self.rounds), 3),
                cpu=round((procfs.cpu(self.root, tid)[0] - cpu.get(tid, 0.0)) / span, 3),
                lines=tally.lines(),
            )
            for tid, tally in self.threads.items()
            if tid != self.root
        ]
        return Costs(self.makers, tuple(background), round(self.blocked / max(1, self.rounds), 3))

    def _look(self) -> None:
        self.rounds += 1
        for pid in list(self.sampler.interpreters):
            holder = self._gil_holder(pid) if pid == self.root else None
            try:
                stacks = self.sampler.read(pid)
            except Unreadable:
                continue
            for stack in stacks:
                self._note(stack)
                if pid == self.root:
                    self.threads.setdefault(stack.tid, Tally()).add(list(stack.frames))
            if holder:
                self.gil[holder] += 1
                self.blocked += holder != self.root and _wants_gil(self.root, stacks)

    def _note(self, stack: SampledStack) -> None:
        fetch = stack.find(FETCH, "fetch")
        if fetch is not None:
            self.makers.add(list(stack.frames[: stack.frames.index(fetch)]))

    def _gil_holder(self, pid: int) -> int | None:
        try:
            return self.sampler.interpreters[pid].gil_holder()
        except Unreadable:
            return None


def _wants_gil(pid: int, stacks: list[SampledStack]) -> bool:
    """Whether the main thread sleeps on a futex though its Python code is at no call that would wait."""
    main = next((one for one in stacks if one.tid == pid), None)
    if main is None or not main.frames:
        return False
    call, arguments, _, _ = procfs.syscall(pid, pid)
    return call == "futex" and len(arguments) > 3 and bool(arguments[3])  # it asks again every few milliseconds
