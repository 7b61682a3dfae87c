"""The training prints into a pipe that nobody reads.

## What happens
The training's output goes through a pipe: to `tee`, to a log collector, to the launcher that started it. A pipe
holds 64 KiB. When its reader has stopped reading (it was stopped, hangs itself, or waits for the training's end
before it reads), the next `print` waits for room, for ever.

## How to recognise it
A thread of the training is inside `write` on its standard output or error, which is a full pipe; the process at the
other end is alive and does not read.

## Example
```python
training = subprocess.Popen([sys.executable, "train.py"], stdout=subprocess.PIPE)
training.wait()                     # reads nothing: after 64 KiB of output both wait
```

## Use instead
```python
with open("train.log", "wb") as log:
    subprocess.run([sys.executable, "train.py"], stdout=log, stderr=log)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.processes import Process, Processes
from unstall.evidence.stall import FINITE, LONG_S, Kind, Stall
from unstall.evidence.threads import Threads
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="stdout-pipe-not-drained",
    title="The training prints into a full pipe, and its reader does not read",
    remedies=(
        Remedy("Let the reader go on, or end it", "if it ends, the training gets a BrokenPipeError", "kill -CONT PID"),
        Remedy("Send the output to a file", "a file is never full like a pipe", "python train.py > train.log 2>&1"),
        Remedy("In a launcher, read while you wait", "", "subprocess.run(command, capture_output=True)"),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes, threads: Threads) -> Iterator[Finding]:
    """A write to the standard output or error, and a reader that does something else."""
    pipe = stall.wait.descriptor
    if not stall.wait.prints or pipe is None or stall.thread is None or not stall.thread.still:
        return
    readers = [found for end in pipe.readers if end.pid != stall.wait.pid and (found := processes.get(end.pid))]
    in_chain = {wait.pid for wait in stall.passed}
    readers = [one for one in readers if one.pid not in in_chain] or readers
    if not readers:
        return
    reader = next((one for one in readers if stall.beyond is not None and one.pid == stall.beyond.pid), readers[0])
    full = f" ({pipe.waiting_bytes} of {pipe.capacity} bytes)" if pipe.waiting_bytes is not None else ""
    stream = "output" if pipe.fd == 1 else "error output"
    yield cause.finding(
        _certainty(stall, reader, threads),
        title=f"{stall.role} prints into a full pipe, and pid {reader.pid} ({reader.command or reader.name}) does not read",
        because=(
            stall.fact(f"{stall.role} is inside write() on its standard {stream}, a full pipe{full}"),
            Fact(f"the reader is pid {reader.pid}: {reader.command or reader.name}", "open descriptors"),
            *_what_it_does(stall, reader),
        ),
    )


def _certainty(stall: Stall, reader: Process, threads: Threads) -> Confidence:
    """A reader that sleeps or computes may read again."""
    if reader.stopped:
        return Confidence.CERTAIN
    if stall.beyond is not None and (stall.beyond.kind in FINITE or stall.beyond.limit_s is not None):
        return Confidence.POSSIBLE
    its_threads = threads.of(reader.pid)
    if not stall.long or (not its_threads and stall.watched_s < LONG_S):
        return Confidence.POSSIBLE  # until it was seen for a while what the reader does
    if any(not one.still for one in its_threads) or (_on_disk(stall) and not stall.very_long):
        return Confidence.POSSIBLE
    waits_for_us = stall.beyond is not None and stall.beyond.kind is Kind.CHILD
    return Confidence.CERTAIN if waits_for_us else Confidence.LIKELY


def _on_disk(stall: Stall) -> bool:
    return stall.beyond is not None and stall.beyond.kind is Kind.DISK


def _what_it_does(stall: Stall, reader: Process) -> Iterator[Fact]:
    if reader.stopped:
        yield Fact(f"pid {reader.pid} was stopped by a signal", f"/proc/{reader.pid}/stat")
    elif stall.beyond is not None:
        yield Fact(f"pid {reader.pid} waits for {stall.beyond.text}", stall.beyond.source)
