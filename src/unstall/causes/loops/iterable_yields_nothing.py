"""An IterableDataset reads on and on, and never yields.

## What happens
The dataset filters an endless stream (files that are read again and again), or fills a buffer before it yields, and
nothing ever passes: the filter rejects all, the buffer never fills. The worker is busy and the training waits for
its first batch.

## How to recognise it
The thread computes in the loop of the dataset's generator, the one that contains the `yield`, and no batch comes.

## Example
```python
while True:
    for record in records:
        if record["lang"] == "xx":       # no record has it
            yield record
```

## Use instead
Count what passes: when a whole round has yielded nothing, raise an error that says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.motion import ActiveLoop, loops_of
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="iterable-yields-nothing",
    title="An IterableDataset never yields a sample",
    remedies=(
        Remedy("Count what passes the filter", "raise an error when a whole round over the data has yielded nothing"),
        Remedy("Try the dataset alone", "", "next(iter(dataset))"),
    ),
)


@cause.detector
def from_motion(stall: Stall, code: Code) -> Iterator[Finding]:
    """A thread goes round in a loop that yields, and is never seen to yield."""
    if stall.place != "iterable" or stall.stack is None or stall.wait.kind not in (Kind.RUNNING, Kind.SLEEPING):
        return
    loop = _barren_loop(stall, code)
    if loop is None:
        return
    confidence = Confidence.LIKELY if stall.very_long else Confidence.POSSIBLE
    yield cause.finding(
        confidence,
        title=f"{stall.role} reads on in {loop.frame.function} and never yields a sample",
        where=stall.where(stall.at(loop.frame, loop.line)),
        because=(
            Fact(f"it was inside the loop at line {loop.line} in all {stall.stack.samples} looks", "its Python stack"),
            Fact("no sample came out of it while it was watched", "the DataLoader"),
            stall.fact(f"{stall.role} {stall.doing}"),
        ),
    )


def _barren_loop(stall: Stall, code: Code) -> ActiveLoop | None:
    """The outermost loop that was seen to move or go round: what stands further out waits for its `yield`.

    A loop over something finite will end. One over a generator may go on for ever.
    """
    if stall.stack is None:
        return None
    moving = [loop for loop in loops_of(stall.stack, code) if (loop.frame.moved or loop.rounds) and loop.may_be_endless]
    started = stall.worker is not None and (stall.worker.batch or 0) >= max(stall.worker.number or 0, 1)
    wanted = [loop for loop in moving if syntax.yields(loop.node) or not started]
    return wanted[-1] if wanted else None
