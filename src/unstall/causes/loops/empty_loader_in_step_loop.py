"""A loop counts its steps, but the loader has no batch to make a step with.

## What happens
`while step < total:` around `for batch in loader:` ends when enough steps were made. With an empty dataset, or with
`drop_last=True` and fewer samples than one batch has, the inner loop ends at once, each time. No step is ever made: the outer
loop turns for ever, at full speed, without a word.

## How to recognise it
One epoch after the other begins and ends without a single batch.

## Example
```python
loader = DataLoader(dataset, batch_size=64, drop_last=True)      # 40 samples: no full batch
step = 0
while step < 10_000:
    for batch in loader:
        step += 1
```

## Use instead
```python
if len(loader) == 0:
    raise ValueError("the loader is empty: too few samples for one batch?")
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="empty-loader-in-step-loop",
    title="A loop waits for steps that an empty loader never makes",
    remedies=(
        Remedy("Refuse an empty loader before the loop", "", "assert len(loader) > 0"),
        Remedy("Use a smaller batch, or drop_last=False", "where there are too few samples for one full batch"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """Very many epochs, and nothing was delivered in any of them."""
    empty = timings.note("empty-epochs")
    if empty is None or timings.recent.empty_epochs < 10 or timings.recent.delivered:
        return
    times = timings.total
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"the loader is empty: {times.empty_epochs} epochs without a batch, and the loop around it goes on",
        where=[empty.where] if empty.where else (),
        because=[
            Fact(f"{times.empty_epochs} epochs have begun and ended without a batch", "flight record"),
            Fact(f"none was delivered in the last {timings.recent.span_s:.0f} s", "flight record"),
        ],
    )
