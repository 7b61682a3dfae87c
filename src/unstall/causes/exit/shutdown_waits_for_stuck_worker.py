"""The loop over the loader has ended, and the training waits for a worker that is stuck in a sample.

## What happens
At the end of a loop over a DataLoader (also after `break`) torch tells the workers to end, and waits up to 5 seconds
for each of them. A worker that is still inside `__getitem__`, of a batch that was fetched ahead and nobody wants any
more, can't listen. After 5 seconds it is killed.

## How to recognise it
The training's main thread stands in `_shutdown_workers`, in `join`; the worker that it waits for is inside the
dataset's code, and nothing moves there.

## Example
```python
for batch in loader:
    if enough(batch):
        break                      # returns after 5 s for each worker that is stuck
```

## Use instead
Find out what the worker is stuck in: the chain shows its line. Give that call a time limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.leaving import leaver
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import LOADER_FILE, Kind, Stall
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

JOIN_S = 5.0  # torch kills a worker that has not ended after this time

cause = Cause(
    slug="shutdown-waits-for-stuck-worker",
    title="The end of the loop waits for a worker that is stuck in a sample",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Give the call that the worker is stuck in a time limit", "5 s are lost per worker and loop"),
        Remedy("Or end the loop at its natural end", "then no batch is left that was fetched ahead"),
    ),
)


@cause.detector
def from_waits(stall: Stall, stacks: Stacks) -> Iterator[Finding]:
    """The main thread joins a worker, which is in the user's code."""
    joining = next((wait for wait in stall.passed if _shuts_down(stacks, wait.tid)), None)
    if joining is None or stall.in_main or stall.frame is None or leaver(stall, stacks) is not None:
        return
    stuck = stall.wait.limit_s is None if stall.wait.kind is not Kind.RUNNING else False
    sleeps_on = stall.wait.limit_s is not None and stall.wait.limit_s > JOIN_S
    still = stall.thread is not None and stall.thread.still
    main = stacks.get(joining.tid)
    frame = next(main.user_frames(), None) if main else None
    yield cause.finding(
        Confidence.LIKELY if still and (stuck or sleeps_on) else Confidence.POSSIBLE,
        title=f"the end of the loop waits for pid {stall.process.pid}, a worker that is stuck in a sample",
        where=(*stall.where(), *((main.location(frame, "main"),) if main and frame else ())),
        because=(
            Fact("the main thread waits for the worker's end, up to 5 s", "its stack: _shutdown_workers"),
            stall.fact(f"the worker waits for {stall.wait.text}"),
        ),
    )


def _shuts_down(stacks: Stacks, tid: int) -> bool:
    stack = stacks.get(tid)
    return stack is not None and stack.find(LOADER_FILE, "_shutdown_workers") is not None
