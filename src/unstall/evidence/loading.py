"""Whether a training waits for its data, and which line of the user's code costs most."""

from __future__ import annotations

from unstall.evidence.timings import Line, Timings
from unstall.model.finding import Fact, Location

LEAST_S = 10.0  # of training: earlier it is too early to say
LEAST_BATCHES = 4
WAITS = 0.5  # of its time
DOMINATES = 0.5  # of the samples: a function with less is one of several


def hottest(timings: Timings) -> tuple[Line, ...]:
    """The hottest line of the innermost function that most of the time goes into, then the lines that lead to it."""
    functions: dict[tuple[str, str], float] = {}
    for line in timings.lines:
        key = (line.file, line.function)
        functions[key] = functions.get(key, 0.0) + line.share
    own: dict[tuple[str, str], float] = {}
    for line in timings.lines:
        own[line.file, line.function] = own.get((line.file, line.function), 0.0) + line.own
    heavy = [one for one, share in functions.items() if share >= DOMINATES] or list(functions)[:1]
    if not heavy:
        return ()
    inner = max(heavy, key=lambda one: own[one])
    of_it = sorted((one for one in timings.lines if (one.file, one.function) == inner), key=lambda one: -one.share)
    callers = [
        one for one in timings.lines if (one.file, one.function) != inner and one.share >= DOMINATES and not one.own
    ]
    return (*of_it[:1], *callers[:3])


def places(timings: Timings, role: str) -> tuple[Location, ...]:
    """Where these lines are."""
    return tuple(line.location(role=role) for line in hottest(timings))


def shares(timings: Timings) -> list[Fact]:
    """How much the lines cost, in words: those where the time itself is spent."""
    costly = sorted((one for one in timings.lines if one.own >= 0.1), key=lambda one: -one.own)
    source = f"{timings.samples} samples of stacks"
    return [
        Fact(f"{one.own:.0%} of the time to make samples is spent at {_short(one.file)}:{one.line}", source)
        for one in costly[:3]
    ]


def _short(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def waits(timings: Timings) -> bool:
    """Whether it has been waiting for data for most of the time, for long enough."""
    times = timings.recent
    if timings.total.span_s < LEAST_S or times.delivered < LEAST_BATCHES:
        return False
    starting = times.first_wait_s if times.iterators > 1 and timings.workers else 0.0
    return (times.waited_s - starting) / max(times.span_s, 0.1) >= WAITS and timings.total.waiting >= WAITS / 2


def facts(timings: Timings) -> list[Fact]:
    """What was measured."""
    times = timings.recent
    per_batch = times.fetching_s / times.batches if times.batches else 0.0
    return [
        Fact(f"of the last {times.span_s:.0f} s it waited {times.waited_s:.0f} s for batches", "flight record"),
        Fact(
            f"a batch takes {per_batch:.2g} s to make, {times.computing:.0%} of it computing; "
            f"a training step takes {times.trained_s / max(1, times.delivered):.2g} s",
            "flight record",
        ),
        *shares(timings),
    ]
