"""An event or condition is waited for, and nobody who is left will ever set or notify it.

## What happens
`event.wait()` sleeps until another thread or process calls `event.set()`; a condition sleeps until somebody calls
`notify()`. If that call stands behind the very thing that waits (the training sets the event after its first batch,
and the workers wait for it before they make one), or if the thread that should make it has failed, nobody wakes it up.

## How to recognise it
A thread is inside `Event.wait()` or `Condition.wait()` without a time limit. No other thread that is still alive
calls `set()` or `notify()` on its way, or only one that itself waits for this thread.

## Example
```python
def load(self):
    self.rows = read(path)          # raises: the traceback is printed, and the thread has ended
    self.ready.set()

self.ready.wait()                   # for ever
```

## Use instead
```python
try:
    self.rows = read(path)
finally:
    self.ready.set()

if not self.ready.wait(timeout=60):
    raise RuntimeError("the loader thread did not get ready")
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.enders import lost_in_fork, nobody_else
from unstall.evidence.leaving import frameless, leaver
from unstall.evidence.objects import Objects
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="event-never-set",
    title="An event is waited for that nobody is going to set",
    remedies=(
        Remedy("Look for the line that should set it", "is it reached before this wait, and also after an error?"),
        Remedy("Set it in any case", "", "try:\n    load()\nfinally:\n    ready.set()"),
        Remedy("Wait with a time limit", "and look whether the other one lives", "if not ready.wait(timeout=60): …"),
    ),
)
_CALLS = {"event": "set()", "condition": "notify()"}


@cause.detector
def from_waits(stall: Stall, objects: Objects, processes: Processes, stacks: Stacks) -> Iterator[Finding]:
    """Nobody who is alive sets it, but those who wait for the one that waits."""
    one = stall.wait.object
    if stall.wait.kind is not Kind.CONDITION or one is None or one.sort not in _CALLS or stall.wait.ends:
        return
    if (
        stall.frame is None
        or not nobody_else(stall, objects, stacks)
        or leaver(stall, stacks)
        or frameless(stall, stacks)
    ):
        return
    if stall.in_main and stall.process.fetches:
        return  # its main process has died: who is missing may have gone with it
    shared = stall.wait.lock is not None
    if not shared and lost_in_fork(stall, processes, stacks):
        return
    call = _CALLS[one.sort]
    behind = [wait for wait in stall.cycle if wait.tid in one.enders]
    facts = [stall.fact(f"{stall.role} waits for {one.label}, without a time limit")]
    if behind:
        facts.append(Fact(f"only pid {behind[0].pid} has a {call} on its way, and it waits for {stall.role}", "source"))
    else:
        facts.append(Fact(f"no thread that is still alive has a {call} on its way", "the Python stacks and the source"))
    yield cause.finding(
        Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
        title=f"{stall.role} waits for {one.label}, and nobody is going to call {call}",
        because=facts,
    )
