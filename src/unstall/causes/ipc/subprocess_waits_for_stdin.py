"""A child process waits for its input to end, and its parent waits for the child.

## What happens
A program that reads its input to the end (`sort`, `ffmpeg -i -`, `wc`, a filter of your own) was started with
`stdin=PIPE`. The parent writes, and then reads the child's output or waits for its end, without closing the pipe. The
child can't know that nothing more will come: it goes on waiting, and both wait for ever.

## How to recognise it
A circle: the parent waits for the child or its output, the child is inside `read` on its standard input, which is an
empty pipe, and only the waiting parent has that pipe's writing end.

## Example
```python
child = subprocess.Popen(["sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
child.stdin.write(text)
lines = child.stdout.read()            # sort has not seen the end of its input
```

## Use instead
```python
lines = subprocess.run(["sort"], input=text, capture_output=True, text=True, timeout=60).stdout
```
or `child.stdin.close()` before reading.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.processes import Processes
from unstall.evidence.stall import Kind, Stall, Wait
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="subprocess-waits-for-stdin",
    title="A child process waits for its input to end, and its parent waits for the child",
    remedies=(
        Remedy(
            "Hand over the whole input at once",
            "run() and communicate() close the pipe when all is written",
            "subprocess.run(command, input=data, capture_output=True, timeout=60)",
        ),
        Remedy("Or close the pipe when all is written", "", "child.stdin.close()"),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes) -> Iterator[Finding]:
    """A circle of a child that reads its empty input, and the process that alone could write or close it."""
    for reader in stall.cycle:
        parent = _parent(stall, reader)
        child = processes.get(reader.pid)
        pipe = reader.descriptor
        if parent is None or child is None or pipe is None or child.ppid != parent.pid:
            continue
        yield cause.finding(
            Confidence.CERTAIN,
            title=f"`{child.command or child.name}` waits for the end of its input, and pid {parent.pid} waits for it",
            where=stall.where(),
            because=(
                Fact(f"pid {child.pid} ({child.name}) is inside read() on its standard input", reader.source),
                Fact(f"that pipe is empty, and only pid {parent.pid} can write to it or close it", "open descriptors"),
                Fact(f"pid {parent.pid} waits for {parent.text}", parent.source),
            ),
        )
        return


def _parent(stall: Stall, reader: Wait) -> Wait | None:
    """The wait of the process in the circle that alone has the writing end of the reader's standard input."""
    pipe = reader.descriptor
    if reader.kind is not Kind.PIPE_READ or pipe is None or pipe.fd != 0 or pipe.waiting_bytes:
        return None
    writers = {end.pid for end in pipe.writers if end.pid != reader.pid}
    for wait in stall.cycle:
        if writers == {wait.pid} and wait.kind in (Kind.PIPE_READ, Kind.CHILD) and wait.limit_s is None:
            return wait
    return None
