"""Workers are started anew for every epoch, and that takes a large part of the time.

## What happens
Without `persistent_workers=True` a DataLoader ends its workers after each epoch and starts new ones for the next. Each
start costs: the process itself, imports where it is spawned, `worker_init_fn`, caches and files that each worker opens
anew. With short epochs the training waits for that more than it trains.

## How to recognise it
The time to make iterators and the wait for their first batches add up to a large share of the training, and are much
longer than it takes to make a batch.

## Example
```python
loader = DataLoader(dataset, num_workers=4)      # 16 samples: an epoch takes 50 ms, its workers 2 s
for epoch in range(1000):
    for batch in loader: ...
```

## Use instead
```python
loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
```
or no workers at all, if the whole epoch takes less time than to start them.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Times, Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

LEAST_S = 10.0
LEAST_ITERATORS = 4
LEAST_EACH_S = 0.1
COSTS = 0.4

cause = Cause(
    slug="worker-respawn-each-epoch",
    title="Workers are started anew for every epoch, and that takes a large part of the time",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Keep the workers between epochs", "", "DataLoader(…, persistent_workers=True)"),
        Remedy("Or use no workers", "if an epoch takes less time than to start them", "DataLoader(…, num_workers=0)"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """Starting workers costs more than what they do."""
    times = timings.recent
    if not timings.workers or timings.total.span_s < LEAST_S or times.iterators < LEAST_ITERATORS:
        return
    each, share = cost_of_start(times), cost_of_start(times) * times.iterators / max(times.span_s, 0.1)
    batches = times.delivered / times.iterators
    if share < COSTS or each < LEAST_EACH_S or (batches < 2 and (timings.expected or 0) > batches + 1):
        return  # the last: iterators that are thrown away before their end are another matter
    made = timings.note("iterators")
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"workers are started {times.iterators} times in {times.span_s:.0f} s, which takes {share:.0%} of the time",
        where=[made.where] if made and made.where else (),
        because=[
            Fact(
                f"{times.iterators} times in {times.span_s:.0f} s, {timings.workers} workers were started",
                "flight record",
            ),
            Fact(f"each start takes {each:.2g} s more than its first batch needs", "flight record"),
            Fact(f"the epochs that they serve have {batches:.0f} batches", "flight record"),
        ],
    )


def cost_of_start(times: Times) -> float:
    """What a start takes, without the making of the first batch."""
    per_batch = times.fetching_s / times.batches if times.batches else 0.0
    return (times.startup_s + max(0.0, times.first_wait_s - times.iterators * per_batch)) / times.iterators
