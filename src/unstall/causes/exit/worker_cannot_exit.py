"""A worker was told to end and can't: a thread of it goes on. Every epoch's end waits for it.

## What happens
A worker process ends when its last batch was delivered. If the dataset has started a thread in it that is no daemon,
Python waits for that thread, and the main process waits for the worker: 5 seconds for each worker, then it kills it.
With `persistent_workers=False` that is paid after every epoch.

## How to recognise it
The training stands at the end of its loop over the loader, in `_shutdown_workers`. The worker's main thread stands
in `threading._shutdown`, and waits for a thread that is in an endless loop or wait.

## Example
```python
def __getitem__(self, index):
    if self.thread is None:
        self.thread = threading.Thread(target=self.prefetch)       # no daemon, never ends
        self.thread.start()
```

## Use instead
```python
self.thread = threading.Thread(target=self.prefetch, daemon=True)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import Code
from unstall.evidence.leaving import goes_on_for_ever, leaver
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Fact, Finding, Remedy

cause = Cause(
    slug="worker-cannot-exit",
    title="A worker can't end: a thread of it goes on",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Make the worker's thread a daemon", "", "threading.Thread(target=prefetch, daemon=True)"),
        Remedy("Keep the workers between epochs", "then it is paid once", "DataLoader(..., persistent_workers=True)"),
    ),
)


@cause.detector
def from_waits(stall: Stall, stacks: Stacks, code: Code) -> Iterator[Finding]:
    """A worker is on its way out, and waits for a thread that does not end."""
    leaving = leaver(stall, stacks)
    if leaving is None or leaving.pid == stall.main_pid or not stall.process.fetches:
        return
    found = goes_on_for_ever(stall, stacks, code)
    if found is None:
        return
    confidence, why = found
    yield cause.finding(
        confidence,
        title=f"pid {stall.process.pid}, a loader's worker, can't end: a thread of it goes on",
        because=(
            Fact(
                "the worker has delivered its last batch, and Python waits for its threads", "its main thread's stack"
            ),
            stall.fact(why),
            Fact("the main process waits up to 5 s for each worker, then kills it", "_shutdown_workers"),
        ),
    )
