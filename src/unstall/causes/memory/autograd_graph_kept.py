"""Something keeps the autograd graph of every step, so memory grows with each step.

## What happens
A loss is more than a number: it holds on to the graph of all operations that made it, for `backward()`. A list of
losses, or a running total of them, holds all those graphs. Memory grows with every step until the training is killed.

## How to recognise it
A container gets longer with every step, and what is in it has a graph. Or the graph of one variable has more
operations at each look, with those of earlier steps still among them.

## Example
```python
total = 0
for x, y in loader:
    loss = criterion(model(x), y)
    total += loss                        # keeps the graph of every step
```

## Use instead
```python
    total += loss.item()                 # or: total += loss.detach()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.kept_graphs import facts, is_slower
from unstall.evidence.timings import Note, Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Finding, Remedy

MUCH_BYTES = 100 << 20

cause = Cause(
    slug="autograd-graph-kept",
    title="Something keeps the autograd graph of every step",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Keep the number, not the tensor", "a number has no graph", "total += loss.item()"),
        Remedy("Or detach what is kept", "it stays on its device, without a graph", "outputs.append(output.detach())"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """A container or a variable was seen to keep the graphs of earlier steps, and more of them later."""
    kept = timings.note("graph")
    if kept is None or kept.where is None or is_slower(kept):
        return
    yield cause.finding(
        confidence(kept),
        title=f"a {kept.what} keeps the autograd graph of every step: {_much(kept)}",
        where=[kept.where],
        because=facts(kept),
    )


def confidence(kept: Note) -> Confidence:
    """What is kept may be small, or be meant for one backward() and step of the optimizer at the end of an epoch."""
    if kept.size < MUCH_BYTES or not kept.sure:
        return Confidence.POSSIBLE
    return Confidence.CERTAIN


def _much(kept: Note) -> str:
    return f"memory has grown by {kept.size >> 20} MiB"
