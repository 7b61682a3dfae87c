"""The sampler goes on for ever, so the epoch never ends.

## What happens
A custom sampler (or batch sampler) yields indices in a loop that nothing ends. `len(loader)` says how many batches an epoch
should have; the loop over the loader goes on beyond that. Steps are made, the loss falls, but the validation, the
checkpoint and the next epoch never come.

## How to recognise it
The epoch has had more batches than the loader promised, and goes on.

## Example
```python
class Endless(Sampler):
    def __iter__(self):
        while True:                              # nothing ends this
            yield random.randrange(len(self.data))
    def __len__(self):
        return len(self.data)
```

## Use instead
```python
    def __iter__(self):
        for _ in range(len(self)):
            yield random.randrange(len(self.data))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="sampler-never-ends",
    title="The sampler goes on for ever, so the epoch never ends",
    remedies=(
        Remedy("Let the sampler end after as many indices as it promises", "", "for _ in range(len(self)): yield ..."),
        Remedy("Or stop the epoch yourself", "", "for batch in itertools.islice(loader, len(loader)): ..."),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """More batches than promised: twice as many, or the sampler's source shows that it has no end."""
    over, expected = timings.note("overrun"), timings.expected
    if over is None or over.where is None or expected is None or expected != over.count:
        return
    if timings.in_epoch <= expected or not (over.endless or timings.in_epoch > 2 * expected + 1):
        return
    facts = [Fact(f"the epoch has had {timings.in_epoch} batches; the loader promised {expected}", "flight record")]
    if over.endless:
        facts.append(Fact(f"the loop in {over.where.function} has no way out", "its source"))
    yield cause.finding(
        Confidence.CERTAIN if over.endless else Confidence.LIKELY,
        title=f"the epoch never ends: {timings.in_epoch} batches so far, where the loader promised {expected}",
        where=[over.where],
        because=facts,
    )
