"""A thread waits for a lock that it holds itself.

## What happens
A `Lock` can be taken once. The code takes it, and before it lets go, takes it again: often in a method that is
called from inside the `with` block of another. The second `acquire()` waits for the first to be released, for
ever. With `num_workers > 0` the worker stops answering, and the training waits for its batch without a word.

## How to recognise it
The same thread that waits for the lock is its holder: `SemLock.count` says so for a `multiprocessing.Lock`, and
for a `threading.Lock` its own stack stands inside a `with` block of the same lock object.

## Example
```python
def __getitem__(self, index):
    with self.lock:
        return self.load(index)      # load() also says `with self.lock:`
```

## Use instead
```python
self.lock = multiprocessing.RLock()  # may be taken again by who has it
```
or take the lock in one place only: the outer method, and let inner ones expect it.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import SourceFile
from unstall.evidence.nested_locks import nested_locks
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="lock-self-deadlock",
    title="A thread waits for a lock that it holds itself",
    remedies=(
        Remedy("Use an RLock", "its holder may take it again", "self.lock = multiprocessing.RLock()"),
        Remedy("Or take the lock in one place only", "let inner methods expect that the lock is held"),
    ),
)


@cause.detector
def from_waits(stall: Stall) -> Iterator[Finding]:
    """The holder of the lock is the thread that waits for it, and it stands inside."""
    lock = stall.wait.lock
    if lock is None or stall.wait.kind not in (Kind.SHARED_LOCK, Kind.THREAD_LOCK):
        return
    mine = [one for one in lock.holders if one.tid == stall.wait.tid and one.file]
    if not mine or stall.wait.ends or ("semaphore" in lock.sort and lock.largest != 1):
        return
    outer = mine[-1]
    taken = Location(outer.file, outer.line, outer.function, stall.process.pid, stall.role)
    yield cause.finding(
        Confidence.CERTAIN if outer.exact else Confidence.LIKELY,
        title=f"{stall.role} waits for {lock.label}, which it holds itself",
        where=stall.where(),
        because=(
            Fact(f"{lock.label} is held by the very thread that waits for it", outer.source),
            Fact(f"it was taken in {taken.function} and not released ({taken.file}:{taken.line})", "its Python stack"),
        ),
    )


@cause.detector
def in_source(source: SourceFile) -> Iterator[Finding]:
    """A plain lock is taken inside its own `with` block, or by a method that is called there."""
    for one in nested_locks(source.tree) if source.mentions("Lock(", "allocate_lock(") else ():
        yield cause.finding(
            Confidence.LIKELY,
            title=f"{one.lock} is taken again while it is held",
            where=(Location(source.path, one.inner, one.by), Location(source.path, one.outer)),
            because=(
                Fact(
                    f"line {one.outer} takes {one.lock}, and from there line {one.inner} takes it again", "the source"
                ),
                Fact("it is a plain Lock: whoever holds it can't take it a second time", "the source"),
            ),
        )
