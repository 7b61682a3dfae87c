"""A query waits for a SQLite database that another connection has locked.

## What happens
SQLite lets one connection write at a time. While another one is inside a transaction, a query sleeps and tries
again, until its busy timeout (`sqlite3.connect(path, timeout=...)`) has passed. With a long timeout and a
transaction that nobody ends, this looks like a frozen training.

## How to recognise it
The thread sleeps inside the SQLite library, and another process holds a lock on the database file (or on the
index of its write-ahead log).

## Example
```python
connection = sqlite3.connect(path, timeout=86400)
connection.execute("INSERT INTO losses VALUES (?)", (loss,))   # begins a transaction ...
for batch in loader:                                           # ... that stays open while workers write, too
```

## Use instead
```python
with connection:                                               # commits at once
    connection.execute("INSERT INTO losses VALUES (?)", (loss,))
```
Let one process write. Readers open the database with `?mode=ro`, and a timeout of seconds shows the error.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.holding import certainty, holdings
from unstall.evidence.processes import Processes
from unstall.evidence.stall import Stall
from unstall.evidence.threads import Threads
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="sqlite-locked",
    title="A query waits for a SQLite database that another connection has locked",
    remedies=(
        Remedy("End the open transaction of the other connection", "commit right after writing"),
        Remedy(
            "Give the connection a short timeout",
            "then the query fails with `database is locked` instead of waiting",
            "sqlite3.connect(path, timeout=5)",
        ),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes, threads: Threads) -> Iterator[Finding]:
    """It sleeps inside SQLite, and somebody holds the database's lock."""
    lock = stall.wait.lock
    if lock is None or lock.sort != "database-lock":
        return
    held = holdings(stall, lock, processes, threads)
    facts = [stall.fact(f"{stall.role} sleeps inside SQLite, and tries again until its busy timeout has passed")]
    for one in held:
        facts += one.facts(lock.label)
    if not held:
        facts.append(Fact("another connection of the same process holds the lock", lock.holders[0].source))
    if any(one.pid == other.holder.pid for one in stall.cycle for other in held):
        facts.append(Fact("the holder itself waits for this process: neither can go on", "the chain of waits"))
    by = held[0].name if held else "another connection of its own"
    sure = certainty(stall, held, gives_up=True) if held else Confidence.LIKELY if stall.long else Confidence.POSSIBLE
    yield cause.finding(
        sure, title=f"{stall.role} waits for {lock.label}, which is locked by {by}", where=stall.where(), because=facts
    )
