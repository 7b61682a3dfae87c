"""A child process waits for room in a pipe, and its parent waits for the child.

## What happens
A program is started with `stdout=PIPE` (or stderr) and nobody reads the pipe. It holds 64 KiB; when it is full the
child waits in `write`, and the parent waits for the child to end. The same happens when the parent reads stdout to
its end while the child is blocked on a full stderr.

## How to recognise it
A circle: the parent waits for the child, the child is inside `write` on a full pipe, and the only process that has
the pipe's other end is the parent.

## Example
```python
child = subprocess.Popen(["ffmpeg", ...], stdout=subprocess.PIPE)
child.wait()                                # ffmpeg prints more than 64 KiB
```

## Use instead
```python
done = subprocess.run(["ffmpeg", ...], capture_output=True, timeout=60)    # reads while it waits
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import Code, SourceFile
from unstall.evidence.motion import waiting_loop
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall, Wait
from unstall.evidence.unread_pipes import unread_pipes
from unstall.evidence.unread_queues import feeder_at_full_pipe
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="subprocess-pipe-full",
    title="A child process waits for room in a pipe that its parent does not read",
    remedies=(
        Remedy(
            "Read while you wait",
            "communicate() and run() do",
            "subprocess.run(command, capture_output=True, timeout=60)",
        ),
        Remedy("Or throw the output away", "", "subprocess.Popen(command, stdout=subprocess.DEVNULL)"),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes, code: Code, stacks: Stacks) -> Iterator[Finding]:
    """A process below writes into a full pipe, and who could read it waits on the way to it."""
    if feeder_at_full_pipe(stall, stacks) is not None:
        return  # a queue's pipe: another cause
    for writer in stall.cycle or stall.passed[-1:]:
        if writer.kind is Kind.PIPE_WRITE and writer.descriptor is not None:
            reader = _reader(stall, writer)
            child = processes.get(writer.pid)
            if reader is None or child is None or processes.get(child.pid) is None:
                continue
            pipe = writer.descriptor
            full = f", {pipe.waiting_bytes} of {pipe.capacity} bytes" if pipe.waiting_bytes is not None else ""
            yield cause.finding(
                Confidence.CERTAIN,
                title=f"`{child.command or child.name}` waits for room in a pipe, and pid {reader.pid} does not read it",
                where=_where(stall, code),
                because=(
                    Fact(f"pid {child.pid} ({child.name}) is inside write() on descriptor {pipe.fd}", writer.source),
                    Fact(f"that pipe is full{full}; only pid {reader.pid} can read it", "open descriptors"),
                    Fact(f"pid {reader.pid} waits for {reader.text}", reader.source),
                ),
            )
            return


def _where(stall: Stall, code: Code) -> tuple[Location, ...]:
    """The waiting call; where the parent looks at the child again and again, the head of that loop."""
    loop = waiting_loop(stall.stack, code) if stall.stack and stall.wait.kind is Kind.SLEEPING else None
    return stall.where(stall.at(loop.frame, loop.line)) if loop else stall.where()


def _reader(stall: Stall, writer: Wait) -> Wait | None:
    """The wait of the process that should read the pipe, if it lies on the way."""
    readers = {end.pid for end in writer.descriptor.readers} if writer.descriptor else set()
    readers.discard(writer.pid)
    for wait in (*stall.cycle, *reversed(stall.passed)):
        if wait.pid in readers and wait.tid != writer.tid:
            return wait
    return None


@cause.detector
def in_source(source: SourceFile) -> Iterator[Finding]:
    """A child's output goes into a pipe, and the code waits for the child before it reads."""
    for one in unread_pipes(source.tree) if source.mentions("PIPE") else ():
        yield cause.finding(
            Confidence.LIKELY,
            title=f"wait() before the child's {one.stream} is read: both wait for ever once the pipe is full",
            where=(Location(source.path, one.waited, one.function), Location(source.path, one.started, one.function)),
            because=(
                Fact(f"line {one.started} sends {one.stream} into a pipe, which holds 64 KiB", "the source"),
                Fact(f"nothing reads it before line {one.waited} waits for the child to end", "the source"),
            ),
        )
