"""The training is done, but a thread of it that is no daemon goes on, and the process never ends.

## What happens
When the main program has ended, Python waits for every thread that was not made with `daemon=True`. A thread that
waits for its next job, sleeps in a loop, or waits for a flag that nobody sets any more keeps the process alive for
ever: the GPU stays taken, and the job never counts as finished.

## How to recognise it
The main thread stands in `threading._shutdown`, with none of the user's code above it. A thread that is no daemon is
in a wait or loop that only the main program could have ended.

## Example
```python
def run(self):
    while True:
        self.send(self.records.get())        # nobody puts anything any more

threading.Thread(target=self.run).start()    # no daemon
```

## Use instead
```python
threading.Thread(target=self.run, daemon=True).start()     # ends with the program; what is half done is lost
```
or tell it to end, and wait for it: `records.put(None)`, `thread.join()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import Code
from unstall.evidence.leaving import goes_on_for_ever, leaver
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Fact, Finding, Remedy

cause = Cause(
    slug="nondaemon-thread-at-exit",
    title="The training is done, but a thread keeps the process alive",
    remedies=(
        Remedy("Tell the thread to end, and wait for it", "", "records.put(None)\nthread.join()"),
        Remedy("Or make it a daemon", "it ends with the program", "threading.Thread(target=run, daemon=True)"),
        Remedy("Close pools", "", "with ThreadPoolExecutor() as pool: …"),
    ),
)


@cause.detector
def from_waits(stall: Stall, stacks: Stacks, code: Code) -> Iterator[Finding]:
    """The main process is on its way out, and waits for a thread that does not end."""
    leaving = leaver(stall, stacks)
    if leaving is None or leaving.pid != stall.main_pid:
        return
    found = goes_on_for_ever(stall, stacks, code)
    if found is None:
        return
    confidence, why = found
    name = stall.stack.name if stall.stack and stall.stack.name else str(stall.wait.tid)
    yield cause.finding(
        confidence,
        title=f"the training is done, but its thread {name} keeps the process alive",
        because=(
            Fact("the main program has ended: Python waits for its threads", "the main thread's stack"),
            Fact(f"thread {name} is no daemon, and has not ended", "threading's list of threads"),
            stall.fact(why),
        ),
    )
