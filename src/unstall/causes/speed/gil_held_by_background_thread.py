"""A thread beside the training keeps Python's lock, so the training loop hardly gets to run.

## What happens
In one process, only one thread at a time runs Python code: the one that has the GIL. A background thread that computes in
Python (a metrics loop, a logger that formats, a poller without a pause) takes it again and again, each time for 5 ms. The
training loop, which needs it for a moment between two operations, waits each time. Threads do not make Python code
faster; they make the training several times slower.

## How to recognise it
Another thread of the training's process has the GIL in most samples, while the training loop waits for it.

## Example
```python
def monitor():
    while True:                          # no sleep: it computes all the time
        stats.update(compute(history))
threading.Thread(target=monitor, daemon=True).start()
```

## Use instead
Let the thread sleep between two rounds (`event.wait(5)`), or move the work to a process of its own
(`multiprocessing.Process`), or into C code that gives the GIL back.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

HOLDS = 0.5
BLOCKS = 0.4

cause = Cause(
    slug="gil-held-by-background-thread",
    title="A thread beside the training keeps Python's lock, and the training loop waits for it",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Let the thread pause between two rounds", "", "stop.wait(5)    # an Event, instead of running on"),
        Remedy(
            "Or move its work to a process of its own", "", "multiprocessing.Process(target=…, daemon=True).start()"
        ),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """Another thread has the GIL most of the time, and the training loop wants it."""
    for thread in timings.background:
        if thread.gil < HOLDS or timings.blocked < BLOCKS or not thread.lines:
            continue
        hot = max(thread.lines, key=lambda one: (one.own, one.share))
        yield cause.finding(
            Confidence.CERTAIN,
            title=f"a background thread keeps Python's lock {thread.gil:.0%} of the time, and the training loop waits for it",
            where=[hot.location(timings.pid, "background thread")],
            because=[
                Fact(
                    f"the thread {thread.tid} has the GIL in {thread.gil:.0%} of the samples",
                    "the interpreter's memory",
                ),
                Fact(
                    f"the training loop wants it and does not have it in {timings.blocked:.0%}",
                    "the interpreter's memory",
                ),
                Fact(f"the thread uses {thread.cpu:.0%} of a core", "CPU time"),
            ],
        )
