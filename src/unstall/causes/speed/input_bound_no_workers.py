"""The training makes its samples itself, without workers, and that takes most of its time.

## What happens
With `num_workers=0` the training loop fetches each sample in its own process: load, decode, augment, and only
then the training step. The two never overlap. While a sample is made, the model waits; while the model works, no sample
is made.

## How to recognise it
Most of the loop's time goes into `next(iterator)`, in the training's own process, and that is computing.

## Example
```python
loader = DataLoader(dataset, batch_size=32)      # num_workers is 0 unless you say otherwise
```

## Use instead
```python
loader = DataLoader(dataset, batch_size=32, num_workers=2, persistent_workers=True)
```
Workers help as far as there are cores. The costliest line of `__getitem__`, which unstall names, is worth a look all the
same.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence import loading
from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Finding, Remedy

COMPUTES = 0.6

cause = Cause(
    slug="input-bound-no-workers",
    title="The training makes its samples itself, and that takes most of its time",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy(
            "Let workers make the samples",
            "then the next batch is made while the model trains",
            "DataLoader(…, num_workers=2, persistent_workers=True)",
        ),
        Remedy("Make the costliest line cheaper", "it is paid for every sample, in every epoch"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """Most time goes into making samples in the training loop itself."""
    if timings.workers or not loading.waits(timings):
        return
    computes = timings.recent.computing >= COMPUTES
    yield cause.finding(
        Confidence.CERTAIN if computes and timings.samples else Confidence.POSSIBLE,
        title=f"making samples takes {timings.recent.waiting:.0%} of the training's time, and it has no workers",
        where=loading.places(timings, "main"),
        because=loading.facts(timings),
    )
