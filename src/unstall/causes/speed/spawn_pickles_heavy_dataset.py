"""Each worker gets its own pickled copy of a heavy dataset, and that takes long.

## What happens
With the start method `spawn` or `forkserver`, a worker does not inherit the dataset: it is pickled, sent through a pipe
and unpickled, once per worker and per start. A dataset that holds its data in memory makes that slow, and takes the memory
once more for each worker. Workers are started one after the other, so the training waits for all of them.

## How to recognise it
Before the first batch the training's process spends seconds in `pickle`, under the start of a worker.

## Example
```python
class Images(Dataset):
    def __init__(self):
        self.images = load_all()         # 4 GB, copied into each worker
loader = DataLoader(Images(), num_workers=8, multiprocessing_context="spawn")
```

## Use instead
Keep paths in the dataset, and load in `__getitem__`; or keep the data in a file that every worker maps
(`numpy.load(path, mmap_mode="r")`), or in tensors in shared memory (`tensor.share_memory_()`). `fork` inherits instead of copying.
Keep workers between epochs (`persistent_workers=True`), so that it is paid once.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

LONG_S = 2.0  # for all workers of one start

cause = Cause(
    slug="spawn-pickles-heavy-dataset",
    title="Each worker gets its own pickled copy of a heavy dataset, and that takes long",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Keep paths in the dataset, not the data", "and load in __getitem__"),
        Remedy("Or keep the data where all workers can map it", "", 'numpy.load(path, mmap_mode="r")'),
        Remedy("Keep the workers between epochs", "so that it is paid once", "DataLoader(…, persistent_workers=True)"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """Starting one worker took long, and that was pickling."""
    pickled = timings.note("pickled")
    if pickled is None or pickled.where is None:
        return
    workers = max(1, timings.workers)
    if pickled.seconds * workers < LONG_S:
        return
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"to start a worker, {pickled.size / 1e6:.0f} MB are pickled, which takes {pickled.seconds:.1f} s each",
        where=[pickled.where],
        because=[
            Fact(
                f"{pickled.size / 1e6:.0f} MB were pickled for one worker, in {pickled.seconds:.1f} s", "flight record"
            ),
            Fact(f"there are {workers} workers, started one after the other", "flight record"),
        ],
    )
