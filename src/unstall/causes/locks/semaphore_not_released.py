"""A lock or semaphore was acquired, and the code left without releasing it.

## What happens
`acquire()` without `with`: when an exception, an early `return` or `continue` leaves the code between `acquire()`
and `release()`, the permit is gone. A lock is blocked at once; a semaphore loses one permit each time, until none
is left. The sample that blocks is innocent: an earlier one leaked.

## How to recognise it
All permits are taken, their holders are alive, and none of them stands between `acquire()` and `release()` any
more: the code that took them has long moved on.

## Example
```python
self.slots.acquire()
sample = self.decode(index)      # an exception here: the permit is never given back
self.slots.release()
```

## Use instead
```python
with self.slots:
    sample = self.decode(index)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.loaders import Loaders
from unstall.evidence.locks import Holder, Lock
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="semaphore-not-released",
    title="A lock or semaphore was acquired and never released",
    remedies=(
        Remedy(
            "Use `with`", "it releases also when an exception or a return leaves the block", "with self.slots:\n    ..."
        ),
        Remedy(
            "Or release in `finally`", "", "self.slots.acquire()\ntry:\n    ...\nfinally:\n    self.slots.release()"
        ),
    ),
)


@cause.detector
def from_waits(stall: Stall, loaders: Loaders) -> Iterator[Finding]:
    """Permits are taken by living code that is no longer inside."""
    lock = stall.wait.lock
    if lock is None or stall.wait.ends or lock.value not in (0, None) or stall.imports:
        return
    if stall.wait.kind is Kind.SHARED_LOCK:
        gone = [one for one in lock.holders if not one.file]
        inside = [one for one in lock.holders if one.file]
        if not gone and not ("semaphore" in lock.sort and _leaked(lock, inside)):
            return
        caught = {one.pid for one in stall.cycle}
        if len(caught) > 1 and caught >= {one.pid for one in gone}:
            return  # the holders wait for each other: they had no chance to release
        yield _finding(stall, lock, gone or inside, Confidence.CERTAIN)
    elif stall.wait.kind is Kind.THREAD_LOCK:
        if lock.sort == "thread-semaphore" and len(lock.holders) < (lock.largest or 1):
            yield _finding(stall, lock, [], Confidence.LIKELY)
        elif lock.sort == "thread-rlock" and lock.holders and not lock.holders[0].file:
            yield _finding(stall, lock, list(lock.holders), Confidence.CERTAIN)
        elif lock.sort == "thread-lock" and not lock.holders and not _may_be_inherited(stall, lock, loaders):
            yield _finding(stall, lock, [], Confidence.LIKELY)


def _leaked(lock: Lock, inside: list[Holder]) -> bool:
    """Somebody took more permits than the blocks he stands in account for."""
    return any(one.count > 1 for one in inside)


def _may_be_inherited(stall: Stall, lock: Lock, loaders: Loaders) -> bool:
    """The lock may have been taken before the fork: the parent has it locked, or nothing was fetched here yet."""
    if lock.inherited_from is None:
        return False
    if lock.parent_locked or lock.parent_holders:
        return True
    return stall.worker is None or stall.worker.is_at_start(len(loaders.workers))


def _finding(stall: Stall, lock: Lock, holders: list[Holder], confidence: Confidence) -> Finding:
    facts = [Fact(f"{lock.label} is fully taken, and {stall.role} waits for it", stall.wait.source)]
    for one in holders:
        times = f"{one.count} times " if one.count > 1 else ""
        facts.append(
            Fact(f"pid {one.pid} acquired it {times}and has not released it", one.source),
        )
    inside = sum(1 for one in lock.holders if one.file)
    facts.append(
        Fact(
            "no thread stands between its acquire() and release()"
            if not inside
            else f"only {inside} of the threads that took it stand between its acquire() and release()",
            "the Python stacks of all processes that use it",
        )
    )
    return cause.finding(
        confidence, title=f"{lock.label} was acquired and never released; {stall.role} waits for it", because=facts
    )
