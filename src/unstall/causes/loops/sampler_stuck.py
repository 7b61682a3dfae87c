"""The sampler never gives the next index.

## What happens
The order of samples is made in the main process. A sampler or batch sampler that collects indices until a batch is
full, or searches for one that fits, may never find it: too few samples of a class are left, a bucket stays short.
The workers have nothing to do, and the main process computes.

## How to recognise it
The main process is busy inside the sampler's `__iter__`, below `DataLoader._next_index`; the workers wait for work.

## Example
```python
while len(batch) < self.batch_size:
    candidate = pool[i % len(pool)]
    if self.fits(candidate, batch):      # none of the rest fits: the loop goes on for ever
        batch.append(candidate)
    i += 1
```

## Use instead
Walk once over what is left, and yield or drop a short batch at the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import Code
from unstall.evidence.motion import spinning_loop
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Fact, Finding, Remedy

cause = Cause(
    slug="sampler-stuck",
    title="The sampler never gives the next index",
    remedies=(
        Remedy("Walk once over what is left", "and yield or drop a short batch at the end"),
        Remedy("Try the sampler alone", "without the loader", "for batch in batch_sampler: print(batch)"),
    ),
)


@cause.detector
def from_motion(stall: Stall, code: Code) -> Iterator[Finding]:
    """The thread that iterates the loader goes round in a loop of its sampler."""
    if stall.place != "sampler" or stall.stack is None or stall.wait.kind not in (Kind.RUNNING, Kind.SLEEPING):
        return
    loop = spinning_loop(stall.stack, code)
    confidence = loop.never_ends(long=stall.long, very_long=stall.very_long) if loop else None
    if loop is None or confidence is None:
        return
    yield cause.finding(
        confidence,
        title=f"the sampler goes round in the loop at line {loop.line} of {loop.frame.function} for ever",
        where=stall.where(stall.at(loop.frame, loop.line)),
        because=(
            Fact("the main process stands in the sampler, below DataLoader._next_index", "its Python stack"),
            *loop.facts(stall.stack, stall.doing),
        ),
    )
