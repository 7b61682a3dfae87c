"""Two threads or processes take the same two locks in opposite order.

## What happens
One takes lock A and then wants B. The other has taken B and wants A. Neither can go on, and neither lets go.

## How to recognise it
A circle of at least two locks: each is held by somebody who waits for the next one.

## Example
```python
with self.locks[index]:                  # worker 0 holds 3 and wants 4
    with self.locks[index + 1]: ...      # worker 1 holds 4 and wants 3 (its order is the other way round)
```

## Use instead
Take several locks always in one order, for instance sorted by their number:
```python
first, second = sorted((a, b))
with self.locks[first], self.locks[second]: ...
```
or use one lock for both.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

LOCKS = (Kind.SHARED_LOCK, Kind.THREAD_LOCK, Kind.FILE_LOCK)

cause = Cause(
    slug="lock-order-inversion",
    title="Two locks are taken in opposite order",
    remedies=(
        Remedy(
            "Take the locks always in the same order",
            "then nobody can hold the second and wait for the first",
            "first, second = sorted((a, b))\nwith locks[first], locks[second]: ...",
        ),
        Remedy("Or use one lock for both"),
    ),
)


@cause.detector
def from_waits(stall: Stall) -> Iterator[Finding]:
    """A cycle in which at least two different locks are waited for."""
    waiting = [wait for wait in stall.cycle if wait.kind in LOCKS and wait.lock is not None]
    locks = {wait.lock.id: wait.lock for wait in waiting if wait.lock is not None}
    if len(locks) < 2 or any(wait.ends for wait in waiting):
        return
    holders = [
        holder
        for lock in locks.values()
        for holder in lock.holders
        if any(holder.pid == wait.pid and holder.tid in (None, wait.tid) for wait in waiting)
    ]
    exact = all(holder.exact for holder in holders)
    facts = []
    for wait in waiting:
        lock = wait.lock
        assert lock is not None
        held_by = ", ".join(dict.fromkeys(f"pid {one.pid} thread {one.tid or '?'}" for one in lock.holders))
        source = lock.holders[0].source if lock.holders else "the wait graph"
        facts.append(Fact(f"pid {wait.pid} thread {wait.tid} waits for {lock.label}, held by {held_by}", source))
    yield cause.finding(
        Confidence.CERTAIN if exact else Confidence.LIKELY,
        title=f"{len(waiting)} threads wait for each other's locks: {stall.role} waits for {waiting[0].text}",
        because=facts,
    )
