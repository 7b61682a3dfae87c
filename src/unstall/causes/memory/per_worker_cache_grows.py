"""The dataset caches samples in each worker, so the cache is held once per worker, and memory grows.

## What happens
Each worker has its own copy of the dataset. A cache in it (`self.cache[i] = sample`) is filled in every worker
separately, and with shuffling every worker sees every sample sooner or later. In the end the whole dataset is in memory
once per worker.

## How to recognise it
The memory that a worker shares with nobody grows, and so does a container of its dataset, with the batches it makes.
Nothing in the source takes anything out of that container.

## Example
```python
def __getitem__(self, i):
    if i not in self.cache:
        self.cache[i] = decode(self.paths[i])        # in each of the workers
    return self.cache[i]
```

## Use instead
```python
self.cache = torch.zeros(len(paths), 3, 224, 224).share_memory_()      # once, before the workers start
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.loading import LASTING_S
from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

MUCH_BYTES = 100 << 20  # in one worker
STILL = 0.1  # of its length: a cache that has been filled does not get longer

cause = Cause(
    slug="per-worker-cache-grows",
    title="Each worker fills a cache of its own, and memory grows",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Share one cache among the workers", "a tensor in shared memory, or a file that is mapped"),
        Remedy("Or limit what a worker keeps", "", "functools.lru_cache(maxsize=1000)"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """The private memory of workers grows, with a container of the dataset that nothing is taken out of."""
    found = [one for one in timings.notes_of("worker-caches") if one.size >= MUCH_BYTES and one.where]
    found = [one for one in found if not one.bounded and one.shared_less < one.size / 2]
    if not found:
        return
    most = max(found, key=lambda one: one.size)
    lasts = timings.total.span_s >= LASTING_S and most.more > STILL * most.count
    yield cause.finding(
        Confidence.LIKELY if lasts else Confidence.POSSIBLE,
        title=f"`{most.what}` grows in each worker: {most.size >> 20} MiB more in one of them",
        where=[most.where] if most.where else (),
        because=[
            Fact(
                f"`{most.what}` of the dataset has {most.count} items, {most.more} of them new", "the worker's objects"
            ),
            Fact(f"the memory of that worker alone has grown by {most.size >> 20} MiB", "smaps_rollup"),
            Fact(f"{len(found)} workers grow like this", "smaps_rollup"),
        ],
    )
