"""Every worker goes over the whole iterable dataset, so every sample comes once per worker.

## What happens
Each worker has its own copy of an `IterableDataset`, and goes over it from the beginning. Nobody divides the work:
the dataset itself has to. With four workers each sample comes four times an epoch. The training is silently wrong:
epochs are four times as long, batches repeat, and what looks like faster loading is the same work done again.

## How to recognise it
All workers of the loader have begun with exactly the same batches.

## Example
```python
class Lines(IterableDataset):
    def __iter__(self):
        for line in open(self.path):             # every worker reads every line
            yield encode(line)
```

## Use instead
```python
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for line in itertools.islice(open(self.path), first, None, step):
            yield encode(line)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="iterable-not-sharded",
    title="Every worker yields the same samples of an iterable dataset",
    verdict=Verdict.NOT_LEARNING,
    remedies=(
        Remedy(
            "Let each worker take its share in `__iter__`",
            "`get_worker_info()` says which worker it is, and of how many",
            "info = torch.utils.data.get_worker_info()\n"
            "first, step = (info.id, info.num_workers) if info else (0, 1)\n"
            "for one in itertools.islice(source, first, None, step): ...",
        ),
        Remedy("Or use one worker", "then nothing comes twice", "DataLoader(…, num_workers=1)"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """The workers of one iterator were seen to begin with equal batches, which differ from each other."""
    same = timings.note("same-batches")
    if same is None:
        return
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"each of {same.count} workers yields the same samples of {same.what}",
        where=[same.where] if same.where else (),
        because=[
            Fact(f"the first {same.size} batches of all {same.count} workers are equal", "flight records"),
            Fact("those batches differ from each other, so it is not a constant stream", "flight records"),
        ],
    )
