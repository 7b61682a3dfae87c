"""Reading the dataset's Python objects copies them into every worker.

## What happens
A forked worker shares its parent's memory until it writes there. Every Python object has a count of its references in
it, and looking at the object changes that count. So each worker that reads a large list of strings, tuples or dicts
copies it, page by page, into memory of its own.

## How to recognise it
The memory that a worker alone has written to grows, what it shares gets less by as much, and the dataset has a large
container of Python objects, which does not get longer.

## Example
```python
self.items = [(path, label) for path, label in rows]      # ten million tuples and strings
```

## Use instead
```python
self.paths = numpy.array(paths, dtype=numpy.bytes_)       # one object, whatever its length
self.labels = torch.tensor(labels)
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
COPIED = 0.6  # of the growth was shared before
OBJECT_BYTES = 400  # of a row with its parts, at most: fewer rows do not explain the growth

cause = Cause(
    slug="copy-on-write-refcounts",
    title="Each worker copies the dataset's Python objects by reading them",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Keep long lists as arrays", "an array is one object: reading it writes nothing", "numpy.array(items)"),
        Remedy("Or use fewer workers", "each makes a copy"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """What a worker shared has become its own, and its dataset holds very many Python objects."""
    found = [one for one in timings.notes_of("worker-copies") if one.size >= MUCH_BYTES and one.where and one.what]
    found = [one for one in found if one.shared_less >= COPIED * one.size and one.count * OBJECT_BYTES >= one.size]
    if not found:
        return
    most = max(found, key=lambda one: one.size)
    yield cause.finding(
        Confidence.LIKELY if timings.total.span_s >= LASTING_S else Confidence.POSSIBLE,
        title=f"reading `{most.what}` has copied {most.size >> 20} MiB into one worker",
        where=[most.where] if most.where else (),
        because=[
            Fact(f"the memory of one worker alone has grown by {most.size >> 20} MiB", "smaps_rollup"),
            Fact(f"it shares {most.shared_less >> 20} MiB less than at its start", "smaps_rollup"),
            Fact(f"`{most.what}` of the dataset has {most.count} Python objects", "the worker's objects"),
            Fact(f"{len(found)} workers do so", "smaps_rollup"),
        ],
    )
