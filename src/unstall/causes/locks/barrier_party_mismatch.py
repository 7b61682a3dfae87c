"""A barrier waits for more parties than will ever come to it.

## What happens
`Barrier(n)` lets nobody go on before n threads or processes have called `wait()`. If it was made for one more than
there are (the main process counted in, which never calls `wait()`), or if one of them has failed or left early, all
others wait for ever.

## How to recognise it
The barrier's own books: fewer have come than it was made for. All who wait are there, and nobody who could be
missing is on the way: the others wait for one of those at the barrier, or don't use it.

## Example
```python
barrier = multiprocessing.Barrier(num_workers + 1)     # the main process never comes
DataLoader(dataset, num_workers=num_workers, worker_init_fn=lambda number: barrier.wait())
```

## Use instead
```python
barrier = multiprocessing.Barrier(num_workers)
barrier.wait(timeout=60)        # raises BrokenBarrierError instead of waiting for ever
```
and call `barrier.abort()` where a party leaves early.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.enders import nobody_else
from unstall.evidence.objects import Objects
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="barrier-party-mismatch",
    title="A barrier waits for a party that does not come",
    remedies=(
        Remedy("Count who calls wait()", "the barrier's number must be exactly that"),
        Remedy("Give the wait a time limit", "then it raises BrokenBarrierError", "barrier.wait(timeout=60)"),
        Remedy("Let who leaves early say so", "the others get an error at once", "barrier.abort()"),
    ),
)


@cause.detector
def from_waits(stall: Stall, objects: Objects, stacks: Stacks) -> Iterator[Finding]:
    """Fewer have come than the barrier was made for, and nobody is on the way."""
    barrier = stall.wait.object
    if stall.wait.kind is not Kind.CONDITION or barrier is None or barrier.sort != "barrier" or stall.wait.ends:
        return
    if barrier.parties is None or barrier.arrived is None or not 0 < barrier.arrived < barrier.parties:
        return
    if not nobody_else(stall, objects, stacks):
        return
    missing = barrier.parties - barrier.arrived
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"a barrier for {barrier.parties} has {barrier.arrived} at it, and nobody else is on the way",
        because=(
            Fact(f"the barrier was made for {barrier.parties} parties; {barrier.arrived} wait at it", "the barrier"),
            Fact(
                f"{_who(missing)} missing, and nobody else is about to call wait()", "stacks and source of all others"
            ),
        ),
    )


def _who(missing: int) -> str:
    return "one is" if missing == 1 else f"{missing} are"
