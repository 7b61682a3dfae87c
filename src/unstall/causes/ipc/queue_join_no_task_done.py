"""A queue is joined, and nobody is left who would say that its items are done.

## What happens
`queue.join()` waits until `task_done()` was called once for every item that was put. If the consumer has failed
(an exception in a thread is printed and forgotten), or forgets `task_done()` for some items, it waits for ever.

## How to recognise it
A thread is inside `Queue.join()`, items are unfinished, and no living thread or process calls `task_done()`. Or the
consumer waits for the next item: the queue is empty, and still some of its items were never reported.

## Example
```python
def run(self):
    while True:
        item = self.queue.get()
        if item is None:
            continue                  # task_done() is left out
        self.write(item)              # an exception ends the thread
        self.queue.task_done()
```

## Use instead
```python
item = self.queue.get()
try:
    self.write(item)
except Exception as error:
    self.errors.append(error)
finally:
    self.queue.task_done()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.enders import nobody_else
from unstall.evidence.objects import Object, Objects
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="queue-join-no-task-done",
    title="A queue is joined, and nobody says that its items are done",
    remedies=(
        Remedy("Call task_done() for every item", "in a finally block", "finally:\n    queue.task_done()"),
        Remedy("Look for the consumer's end", "an exception in a thread prints a traceback, and the rest goes on"),
    ),
)


@cause.detector
def from_waits(stall: Stall, objects: Objects, stacks: Stacks) -> Iterator[Finding]:
    """Items are unfinished, and every consumer has ended, or waits for more."""
    queue = next((wait.object for wait in (stall.wait, *stall.passed) if _is_join(wait.object)), None)
    if queue is None or (stall.wait.object is not queue and stall.wait.tid not in queue.enders):
        return
    idle = [tid for tid in queue.enders if _takes_from(queue, objects.of(tid), stacks.get(tid))]
    if set(queue.enders) - set(idle) and not (stall.wait.object is queue and nobody_else(stall, objects, stacks)):
        return
    joiner = stacks.get(queue.tid)
    frame = next(joiner.user_frames(), None) if joiner else None
    count = f"{queue.unfinished} items are" if queue.unfinished else "items are"
    facts = [Fact(f"join() waits: {count} unfinished", "the queue's own counter")]
    if idle:
        facts.append(Fact("who takes its items waits for the next one: the queue is empty", "the consumer's stack"))
    else:
        facts.append(Fact("no thread that is still alive calls task_done()", "the Python stacks and the source"))
    yield cause.finding(
        Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
        title="a queue is joined, and nobody is going to call task_done() for all of its items",
        where=stall.where(joiner.location(frame)) if joiner and frame else (),
        because=facts,
    )


def _is_join(one: Object | None) -> bool:
    return one is not None and one.sort == "queue-join" and one.searched


def _takes_from(queue: Object, waited: Object | None, stack: Stack | None) -> bool:
    """Whether a consumer waits for the next item of the queue."""
    if waited is not None and waited.sort == "queue-get":
        return waited.id == queue.id
    return stack is not None and stack.find("multiprocessing/queues.py", "get") is not None
