"""Each step continues the graph of the step before, so every backward() is longer than the last.

## What happens
A hidden state or a running sum goes from step to step without `detach()`. The graph of the new step is then joined to
those of all earlier ones, and `backward(retain_graph=True)` goes through all of them. Each step is slower than the one
before, and memory grows, too.

## How to recognise it
The graph of one variable has more operations at each look, with those of earlier steps still among them, and the steps
take longer and longer.

## Example
```python
for x, y in loader:
    out, hidden = rnn(x, hidden)             # hidden still has the graph of the last step
    criterion(out, y).backward(retain_graph=True)
```

## Use instead
```python
    out, hidden = rnn(x, hidden.detach())
    criterion(out, y).backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.kept_graphs import facts, is_slower
from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

MUCH_LONGER = 3.0  # times; where no optimizer's step came between, sums over some batches may be meant

cause = Cause(
    slug="autograd-graph-grows",
    title="Each step's graph continues the one of the step before",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Detach what goes on to the next step", "its graph then begins anew", "hidden = hidden.detach()"),
        Remedy("Then leave out `retain_graph=True`", "it was only needed to go through the old graphs once more"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """A variable's graph was seen to grow, with earlier steps in it, and the steps take much longer than the first."""
    kept = timings.note("graph")
    if kept is None or kept.where is None or not is_slower(kept):
        return
    yield cause.finding(
        Confidence.CERTAIN if kept.sure else Confidence.LIKELY if kept.factor >= MUCH_LONGER else Confidence.POSSIBLE,
        title=f"each step continues the graph of the one before: a step takes {kept.factor:.1f} times as long as at first",
        where=[kept.where],
        because=[
            Fact(f"a step takes {kept.factor:.1f} times as long as the first ones did", "flight record"),
            *facts(kept),
        ],
    )
