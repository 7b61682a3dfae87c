"""A worker left on its own, in the middle of its work.

## What happens
Code in a worker ended the process: `sys.exit()` or `os._exit()` in the dataset or in what it calls, or a native
library that calls `exit` on an error. The main process notices that the worker is gone: `DataLoader worker (pid(s)
…) exited unexpectedly`. With exit code 0 it is a `ConnectionResetError` or `EOFError` that names nothing.

## How to recognise it
The worker was not killed by a signal, it raised no exception, and it had not been told to end. unstall names the
sample that was being fetched, and the line that left.

## Example
```python
def __getitem__(self, i):
    if not os.path.exists(self.paths[i]):
        sys.exit("missing file")        # ends one worker, and then the training
```

## Use instead
Raise an exception: it reaches the main process with its traceback. `sys.exit` is for a program's main function.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.deaths import death_of
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="worker-exited",
    title="A worker left on its own, and that ended the training",
    remedies=(
        Remedy("Raise an exception instead of leaving the process", "it reaches the main process with its traceback"),
        Remedy("Look for code that ends the process", "sys.exit, os._exit, or a native library that calls exit"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """The worker that torch misses had begun its work, and ended without a signal, an exception, or being told to."""
    death = death_of(ending)
    if death is None or death.signal is not None or death.beat is None:
        return
    left = next((one for one in ending.left if one.pid == death.pid), None)
    spoke = any(one.pid == death.pid for one in ending.said)
    if left is None and (spoke or not death.beat.busy):
        return
    code = death.code if death.code is not None else left.code if left is not None else 0
    facts = [Fact(f"{death.role} (pid {death.pid}) ended with exit code {code}, though it had work", "its exit status")]
    places = [one for one in reversed(left.places) if one.user] if left is not None else []
    if places:
        facts.append(Fact(f"it left in {places[0].function}", "its last words"))
    yield cause.finding(
        Confidence.CERTAIN if left is not None else Confidence.LIKELY,
        title=f"{death.role} left on its own with exit code {code}, and that ended the training",
        where=[Location(one.file, one.line, one.function, death.pid, death.role) for one in places] or ending.loop(),
        sample=death.sample,
        because=[*facts, *death.facts()],
    )
