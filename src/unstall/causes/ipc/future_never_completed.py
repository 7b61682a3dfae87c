"""A future is waited for, and nobody is at work on it.

## What happens
`await future` or `future.result()` waits until somebody calls `set_result()`. A request that was dropped, a callback
that failed, an `asyncio.Event` that no coroutine sets, a job that waits for another job of the same full pool: then
nobody ever does, and the wait has no end.

## How to recognise it
The event loop sleeps without a time limit and watches no connection: no timer, no socket and no thread is left that
could wake it. Or a thread waits for a future's result, and no thread or pool is at work that could set it.

## Example
```python
answer = loop.create_future()
self.waiting[name] = answer           # overwrites the future of an earlier request of the same name
return await answer
```

## Use instead
```python
return await asyncio.wait_for(answer, timeout=30)
```
and complete every future, also when its work fails: `future.set_exception(error)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.enders import lost_in_fork, nobody_else
from unstall.evidence.objects import Objects
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="future-never-completed",
    title="A future is waited for, and nobody is going to complete it",
    remedies=(
        Remedy("Wait with a time limit", "", "await asyncio.wait_for(answer, timeout=30)"),
        Remedy("Complete the future also when the work fails", "", "future.set_exception(error)"),
        Remedy("Don't wait in a pool for another job of that pool", "all its threads may be waiting so"),
    ),
)


@cause.detector
def from_waits(stall: Stall, objects: Objects, processes: Processes, stacks: Stacks) -> Iterator[Finding]:
    """No timer, connection, thread or pool is left that could complete it."""
    one = stall.wait.object
    if stall.wait.kind is not Kind.FUTURE or one is None or stall.wait.limit_s is not None:
        return
    if not nobody_else(stall, objects, stacks) or lost_in_fork(stall, processes, stacks):
        return
    facts = [stall.fact(f"{stall.role} waits for {one.label}, without a time limit")]
    if one.sort == "coroutine":
        facts.append(stall.fact("its event loop has no timer and watches no connection: nothing will wake it"))
    facts.append(Fact("no other thread or pool is at work that could complete it", "the Python stacks and the source"))
    yield cause.finding(
        Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
        title=f"{stall.role} waits for {one.label}, and nobody is at work on it",
        where=stall.where(*one.where(stall.role)),
        because=facts,
    )
