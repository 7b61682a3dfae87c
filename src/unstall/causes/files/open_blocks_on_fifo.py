"""Opening a named pipe waits until somebody opens its other end.

## What happens
A path leads to a named pipe (a FIFO), not to a file. `open()` for reading waits until some process opens it for
writing, and the other way round. Nobody does: the pipe was left over, or the program that should fill it was not
started.

## How to recognise it
The thread stands in the system call `open`, and the path is a FIFO that no other process has open.

## Example
```python
paths = glob.glob(folder + "/*")     # one of them is a named pipe
open(paths[index])                   # never returns
```

## Use instead
```python
paths = [path for path in folder.iterdir() if path.is_file()]   # False for a named pipe
```
Where a pipe is meant, start its writer first, or open it with `os.O_NONBLOCK`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="open-blocks-on-fifo",
    title="Opening a named pipe waits until somebody opens its other end",
    remedies=(
        Remedy("Leave out what is not a regular file", "", "[path for path in folder.iterdir() if path.is_file()]"),
        Remedy("Or start the program that fills the pipe before it is opened"),
    ),
)


@cause.detector
def from_waits(stall: Stall) -> Iterator[Finding]:
    """It is inside open(), and the path is a FIFO."""
    opening = stall.wait.opening
    if stall.wait.kind is not Kind.OPEN or opening is None or opening.sort != "fifo":
        return
    facts = [
        stall.fact(f"{stall.role} is inside open() of {opening.path}"),
        Fact("that is a named pipe: open() waits until its other end is opened, too", "the kind of the file"),
    ]
    if opening.others:
        text = "process " + ", ".join(str(pid) for pid in opening.others) + " has it open, but only this end"
    else:
        text = "no process has it open"
    facts.append(Fact(text, "open descriptors in /proc/<pid>/fd"))
    yield cause.finding(
        Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
        title=f"{stall.role} waits in open(): {opening.path} is a named pipe, and nobody opens its other end",
        where=stall.where(),
        because=facts,
    )
