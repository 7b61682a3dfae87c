"""An exception of a worker can't be made again in the main process.

## What happens
An exception class whose `__init__` takes other arguments than it hands to `super().__init__` can be pickled, but
not read back: Python calls the class with `args`, and that fails. A DataLoader then raises a RuntimeError in its
place, so `except MyError` in the training never sees it. A `multiprocessing.Pool` ends with `MaybeEncodingError`,
or hangs.

## How to recognise it
A worker raised one class, and the main process another. unstall names the line that raised it, and the sample.

## Example
```python
class BadSample(Exception):
    def __init__(self, path, reason):
        super().__init__(f"{path}: {reason}")     # args is one text, __init__ wants two
```

## Use instead
Hand all arguments on, and make the text in `__str__`:
```python
class BadSample(Exception):
    def __init__(self, path, reason):
        super().__init__(path, reason)
```
For a DataLoader let the first argument alone be enough, too: torch calls the class with one text.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.endings import Ending
from unstall.evidence.pools import idle_pool
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

BROKEN = "A result has failed to un-serialize"

cause = Cause(
    slug="exception-not-picklable",
    title="An exception of a worker can't be made again in the main process",
    remedies=(
        Remedy("Hand all arguments on to super().__init__", "an exception is made again from its `args`"),
        Remedy("Look at what raised it", "that is what has to be repaired in the end"),
    ),
)


@cause.detector
def of_a_loader(ending: Ending) -> Iterator[Finding]:
    """A worker raised an exception of a class that `args` can't call, and main got a RuntimeError for it."""
    said, last = ending.failure, ending.last_words
    if said is None or last is None or not said.unpicklable or said.type == last.type:
        return
    facts = [
        Fact(said.first_line, f"the traceback in {said.role}"),
        Fact(f"{said.type} can't be called with its own `args`", "its signature"),
        Fact(f"the main process raised {last.type} in its place", "its traceback"),
    ]
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{said.at_sample} raises {said.type}, which can't be made again in the main process"
        if said.in_fetch
        else None,
        where=said.where or ending.loop(),
        sample=said.sample,
        because=facts,
    )


@cause.detector
def of_a_waiting_pool(stall: Stall, stacks: Stacks, processes: Processes) -> Iterator[Finding]:
    """The thread of a pool that reads results has died, as it does when one of them can't be made again."""
    pool = idle_pool(stall, stacks, processes)
    if pool is not None and not pool.reads_results:
        yield cause.finding(
            Confidence.LIKELY,
            title="a pool's result could not be read: its thread for that has died",
            because=(
                stall.fact("the training waits for a result of a pool of processes"),
                Fact("the pool's thread that reads results does not exist any more", "the stacks of its process"),
                Fact(f"all {len(pool.workers)} processes of the pool wait for a task", "their stacks"),
            ),
        )


@cause.detector
def of_a_pool(ending: Ending) -> Iterator[Finding]:
    """A pool could not send an exception, or could not read it."""
    said = ending.failure
    if said is None:
        return
    unsent = said.type == "MaybeEncodingError" and "ExceptionWithTraceback" in said.message
    unread = said.type == "BrokenProcessPool" and BROKEN in said.texts
    if unsent or unread:
        yield cause.finding(
            Confidence.LIKELY,
            where=said.where or ending.loop(),
            because=(Fact(said.first_line, "its traceback"),),
        )
