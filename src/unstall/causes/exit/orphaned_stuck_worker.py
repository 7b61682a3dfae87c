"""A worker is left over: its main process has died, and it is stuck, so that it does not notice.

## What happens
A worker looks every few seconds whether its main process still lives, but only between two batches. If it is stuck
inside a sample when the main process is killed, it stays: with its memory, its locks, and the pipe of the log, so that
`python train.py | tee log` never returns.

## How to recognise it
A process that runs torch's worker loop has another parent than the one that started it, which has ended. It is
inside the dataset's code.

## Example
```python
def __getitem__(self, index):
    return self.client.recv()          # no time limit: outlives the training that was killed
```

## Use instead
End it: nothing of it can be used any more. `unstall run train.py` leaves none behind. Give the call that it is stuck
in a time limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.loaders import Loaders
from unstall.evidence.stall import FINITE, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="orphaned-stuck-worker",
    title="A worker is left over: its main process has died",
    remedies=(
        Remedy("End it", "nobody waits for its batches any more", "kill -9 PID"),
        Remedy("Supervise the training", "then no worker is left behind", "unstall run train.py"),
    ),
)


@cause.detector
def from_waits(stall: Stall, loaders: Loaders) -> Iterator[Finding]:
    """A worker whose parent is not the process that started it."""
    worker = loaders.worker(stall.main_pid)
    if worker is None or worker.started_by is None or stall.passed[:1] == () or stall.process.pid != stall.main_pid:
        return
    if stall.process.ppid == worker.started_by:
        return
    may_end = stall.wait.kind in FINITE or stall.wait.limit_s is not None
    yield cause.finding(
        Confidence.POSSIBLE if may_end and not stall.long else Confidence.CERTAIN,
        title=f"pid {stall.process.pid} is a worker whose main process, pid {worker.started_by}, has died",
        because=(
            Fact(f"it was started by pid {worker.started_by}, which has ended", "torch's watchdog in the worker"),
            Fact(f"its parent is pid {stall.process.ppid} now", f"/proc/{stall.process.pid}/stat"),
            stall.fact(f"it does not notice: it waits for {stall.wait.text}"),
        ),
        remedies=(
            Remedy("End it", "nobody waits for its batches any more", f"kill -9 {stall.process.pid}"),
            *cause.remedies[1:],
        ),
    )
