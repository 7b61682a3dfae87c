"""The main process holds a lock that its workers need, while it waits for their batch.

## What happens
The training loop takes a lock and then asks the DataLoader for a batch. The workers need the same lock to make
that batch. Each waits for the other, for ever.

## How to recognise it
A circle: the main process waits for a batch, the worker that owes it waits for the lock, and the lock is held by
the main process.

## Example
```python
with lock:                       # the main process has the lock …
    for batch in loader:         # … and waits for workers that say `with lock:` in __getitem__
        train(batch)
```

## Use instead
```python
for batch in loader:
    with lock:                   # only around what needs it, never around `next()` of a loader
        train(batch)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="lock-held-by-main-process",
    title="The main process holds a lock that its workers need",
    remedies=(
        Remedy(
            "Release the lock before you ask the loader for a batch",
            "take it inside the loop, around what needs it",
            "for batch in loader:\n    with lock:\n        train(batch)",
        ),
    ),
)


@cause.detector
def from_waits(stall: Stall) -> Iterator[Finding]:
    """A cycle through the loader: main waits for a worker, which waits for a lock of main."""
    kinds = {wait.kind for wait in stall.cycle}
    lock = stall.wait.lock
    if lock is None or stall.wait.ends or stall.wait.kind is Kind.FILE_LOCK or not kinds & {Kind.LOADER, Kind.HANDOVER}:
        return  # the locks of files and databases have causes of their own
    for holder in lock.holders:
        if holder.pid != stall.main_pid or stall.process.pid == stall.main_pid:
            continue
        place = [Location(holder.file, holder.line, holder.function, holder.pid, "main")] if holder.file else []
        yield cause.finding(
            Confidence.CERTAIN if holder.exact else Confidence.LIKELY,
            title=f"the main process holds {lock.label}, and waits for {stall.role}, which needs it",
            where=(*stall.where(), *place),
            because=(
                Fact(f"{stall.role} waits for {lock.label}", stall.wait.source),
                Fact(f"the main process (pid {holder.pid}) holds it", holder.source),
                Fact("the main process waits for a batch of this worker", "DataLoader iterator"),
            ),
        )
        return
