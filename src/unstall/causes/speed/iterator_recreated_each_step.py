"""Every step makes a new iterator over the loader, and takes only its first batch.

## What happens
`next(iter(loader))` starts an epoch, takes one batch, and throws the epoch away. In a loop this starts the workers
anew for every step, makes several batches in advance that nobody wants, and, without shuffling, delivers the same
first samples again and again: most of the dataset is never seen.

## How to recognise it
There are about as many iterators as batches, though the loader has more than one batch to give.

## Example
```python
for step in range(1000):
    x, y = next(iter(loader))        # always a first batch
```

## Use instead
```python
for x, y in loader:                  # or: batches = iter(loader), once, and next(batches) in the loop
    ...
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import FIRST_ONLY, Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

LEAST_ITERATORS = 16

cause = Cause(
    slug="iterator-recreated-each-step",
    title="Every step makes a new iterator over the loader, and takes only its first batch",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy(
            "Make the iterator once, before the loop",
            "",
            "batches = iter(loader)\nfor step in …:\n    x, y = next(batches)",
        ),
        Remedy("Or loop over the loader itself", "", "for x, y in loader: ..."),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """As many iterators as batches, none of which is used up."""
    times, made = timings.total, timings.note("iterators")
    if made is None or made.where is None or times.iterators < LEAST_ITERATORS or timings.expected == 1:
        return
    if times.delivered > 1.2 * times.iterators or times.epochs > 0.2 * times.iterators:
        return
    promised = f"the loader has {timings.expected} batches" if timings.expected else "an epoch was never used up"
    yield cause.finding(
        Confidence.CERTAIN if made.what == FIRST_ONLY else Confidence.POSSIBLE,  # a loop may be left on purpose
        title=f"a new iterator is made for every batch: {times.iterators} iterators for {times.delivered} batches",
        where=[made.where],
        because=[
            Fact(
                f"{times.iterators} iterators were made, and {times.delivered} batches taken from them", "flight record"
            ),
            Fact(promised, "the loader's length" if timings.expected else "flight record"),
            Fact(
                f"making iterators and waiting for their first batches took {times.startup_s + times.first_wait_s:.1f} s "
                f"of {times.span_s:.0f} s",
                "flight record",
            ),
        ],
    )
