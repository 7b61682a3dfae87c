"""The training is done, and its last clean-up waits for a lock that a daemon thread holds.

## What happens
When the main program has ended, Python and its libraries clean up: they close files and databases, and take locks
for that. A daemon thread is not told to end. If it is inside a library call, or in a block that holds such a lock,
and waits there for something, the clean-up waits for it: the process never ends.

## How to recognise it
The main thread runs no Python code any more and waits for a lock. The lock's owner is a thread of the same process
that is still inside some code of yours, and waits.

## Example
```python
atexit.register(database.close)                         # needs the database's lock
threading.Thread(target=count, daemon=True).start()     # is inside a query for ever
```

## Use instead
Tell the thread to end, and join it before the program ends: `stop.set()`, `thread.join()`. Or
`database.interrupt()` first.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.leaving import frameless
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import FINITE, Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="lock-held-by-daemon-thread-at-exit",
    title="The end of the training waits for a lock that a daemon thread holds",
    remedies=(
        Remedy("End the thread before the program ends", "", "stop.set()\nthread.join()"),
        Remedy("End the process", "its work is done", "kill -9 PID"),
    ),
)
_EXTENSIONS = (".cpython-", ".abi3.so")
_YOUNG_S = 3.0


@cause.detector
def from_lock(stall: Stall, stacks: Stacks) -> Iterator[Finding]:
    """The main thread, out of Python, waits for a lock whose holder is known."""
    main = frameless(stall, stacks)
    if main is None or main.kind is not Kind.THREAD_LOCK or main.pid != stall.main_pid or stall.frame is None:
        return
    may_end = stall.wait.kind in FINITE or stall.wait.limit_s is not None
    yield cause.finding(
        Confidence.POSSIBLE if may_end else Confidence.CERTAIN,
        title=f"the end of the training waits for {main.text}, which {stall.role} holds",
        because=(
            Fact("the main thread runs no Python code any more: the program has ended", "its empty Python stack"),
            Fact(f"it waits for {main.text}", main.source),
            stall.fact(f"the thread that holds it waits for {stall.wait.text}"),
        ),
    )


@cause.detector
def inside_a_library(stall: Stall, stacks: Stacks) -> Iterator[Finding]:
    """The main thread, out of Python, waits inside an extension for a lock whose holder can't be read."""
    if stall.wait.kind is not Kind.NATIVE or not stall.in_main or stall.stack is not None or stall.thread is None:
        return
    extension = next((one for one in stall.thread.libraries if any(part in one for part in _EXTENSIONS)), None)
    if extension is None or stall.process.python is None or (stall.process.age_s or 0.0) < _YOUNG_S:
        return
    left = [one for one in stacks.of(stall.process.pid) if any(one.user_frames())]
    places = [one.location(next(one.user_frames()), "a daemon thread") for one in left]
    yield cause.finding(
        Confidence.LIKELY if left and stall.thread.still else Confidence.POSSIBLE,
        title=f"the end of the training waits for a lock inside {extension}",
        where=places[:1],
        because=(
            Fact("the main thread runs no Python code any more: the program has ended", "its empty Python stack"),
            stall.fact(f"it waits for a lock, called from {extension}"),
            Fact(f"{len(left)} threads of the program are still inside their code", "their Python stacks"),
        ),
    )
