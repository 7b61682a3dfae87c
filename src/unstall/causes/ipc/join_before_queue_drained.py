"""A process is joined before the items that it has put into a queue were read.

## What happens
A `multiprocessing.Queue` sends its items through a pipe, by a helper thread of the process that puts them. That
process can't end before its helper thread has sent all. The pipe holds 64 KiB; if nobody reads, the thread waits. And
the one who should read waits for the process to end.

## How to recognise it
A circle: the parent is inside `Process.join()`; the child is on its way out and waits for its sending thread; that
thread is inside `write` on a full pipe; and the parent, which could read the pipe, is the one that waits.

## Example
```python
helper.start()
helper.join()                    # waits for ever, if the results are larger than a pipe
results = [queue.get() for _ in range(20)]
```

## Use instead
```python
helper.start()
results = [queue.get() for _ in range(20)]
helper.join()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import Code
from unstall.evidence.enders import calls_any
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall, Wait
from unstall.evidence.threads import Threads
from unstall.evidence.unread_queues import feeder_at_full_pipe
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="join-before-queue-drained",
    title="A process is joined while its queue still has items that nobody reads",
    remedies=(
        Remedy("Read all items first, then join", "", "results = [queue.get() for _ in range(n)]\nprocess.join()"),
        Remedy("Or let the process end without sending the rest", "the items are lost", "queue.cancel_join_thread()"),
    ),
)

_READS = {"get", "get_nowait", "recv"}


@cause.detector
def from_waits(stall: Stall, stacks: Stacks, threads: Threads, code: Code) -> Iterator[Finding]:
    """A circle of a join, an ending process, and its sending thread at a full pipe."""
    sender = feeder_at_full_pipe(stall, stacks)
    joiner = next((wait for wait in (*stall.passed, *stall.cycle) if sender and _joins(wait, sender)), None)
    if sender is None or joiner is None or sender.descriptor is None:
        return
    sending = threads.get(sender.tid)
    others = [one for one in stacks.of(joiner.pid) if one.tid != joiner.tid]
    if sending is None or not sending.still or any(calls_any(one, code, _READS) for one in others):
        return  # somebody reads, slowly
    stack = stacks.get(joiner.tid)
    frame = next(stack.user_frames(), None) if stack else None
    readers = ", ".join(str(end.pid) for end in sender.descriptor.readers if end.pid != sender.pid)
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"pid {joiner.pid} waits for the end of pid {sender.pid}, which can't send the items of its queue",
        where=stall.where(stack.location(frame)) if stack and frame else (),
        because=(
            Fact(f"pid {joiner.pid} waits for {joiner.text}", joiner.source),
            Fact(f"the queue's sending thread in pid {sender.pid} is inside write() on a full pipe", sender.source),
            Fact(f"the pipe can be read by pid {readers}, which does not", "open descriptors"),
        ),
    )


def _joins(wait: Wait, sender: Wait) -> bool:
    """Whether a wait is a reader's for the end of the process that sends."""
    readers = {end.pid for end in sender.descriptor.readers} if sender.descriptor else set()
    return wait.kind is Kind.CHILD and wait.pid in readers and wait.pid != sender.pid
