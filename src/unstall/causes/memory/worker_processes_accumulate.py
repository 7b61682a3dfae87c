"""New workers are started again and again, and the old ones are kept.

## What happens
A loader with `persistent_workers=True` keeps its workers for as long as the loader, or an iterator over it, lives.
Where a new loader is made for every epoch or every validation, and the old one stays somewhere (a list, an
attribute, a callback, a reference cycle), the old workers go on living. Each has its own copy of the dataset and
its prefetched batches, so memory runs out after some epochs.

## How to recognise it
Several iterators over the same data live at the same time, made at different times of the training, and the worker
processes of all of them are alive.

## Example
```python
for epoch in range(100):
    loader = DataLoader(data, num_workers=4, persistent_workers=True)
    history.append(loader)                       # 4 more processes each epoch
    for x, y in loader: ...
```

## Use instead
```python
loader = DataLoader(data, num_workers=4, persistent_workers=True)     # once
for epoch in range(100):
    for x, y in loader: ...
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

LEAST = 4  # iterators over the same data: two or three may be meant
MANY = 8  # iterators over data that are only alike, as those of several tasks may be
LEAST_PROCESSES = 6

cause = Cause(
    slug="worker-processes-accumulate",
    title="Workers are started again and again, and the old ones are kept",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Make the loader once, before the loop over the epochs", "its persistent workers then serve all epochs"),
        Remedy(
            "Or do not keep the old loader, nor an iterator over it",
            "workers end when nothing refers to their iterator any more",
            "del loader, batches",
        ),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """Iterators over the same data live, each made after more of the training, with all their workers."""
    kept = timings.note("kept-iterators")
    if kept is None or kept.count < LEAST or kept.size < max(kept.count, LEAST_PROCESSES):
        return
    same = kept.what == "the same"
    data = "the same data" if same else "data of the same kind and length"
    yield cause.finding(
        Confidence.CERTAIN if same else Confidence.LIKELY if kept.count >= MANY else Confidence.POSSIBLE,
        title=f"{kept.size} worker processes are alive, of {kept.count} iterators over {data}",
        where=[kept.where] if kept.where else (),
        because=[
            Fact(f"{kept.count} iterators over {data} are kept, each made later in the training", "torch"),
            Fact(f"{kept.size} of their worker processes are alive", "/proc"),
        ],
    )
