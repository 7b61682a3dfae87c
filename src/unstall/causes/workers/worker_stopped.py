"""A process of the training was stopped by a signal.

## What happens
SIGSTOP, Ctrl-Z, a debugger, or a batch system that suspends jobs puts a process into the stopped state. It stays
there until somebody sends SIGCONT. The main process waits for the stopped worker's batch, without a time limit.

## How to recognise it
The kernel shows the process in state T (stopped) or t (held by a debugger, whose pid stands in TracerPid).

## Example
```python
os.kill(worker.pid, signal.SIGSTOP)       # or a debugger that was attached and left
```

## Use instead
```
kill -CONT PID        # lets it go on: nothing is lost
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="worker-stopped",
    title="A process of the training was stopped by a signal",
    remedies=(Remedy("Let it go on", "nothing was lost", "kill -CONT PID", automatic=True),),
)


@cause.detector
def from_waits(stall: Stall) -> Iterator[Finding]:
    """The root of the chain is in state T."""
    if stall.wait.kind is not Kind.STOPPED:
        return
    process = stall.process
    facts = [Fact(f"pid {process.pid} is stopped (state {process.state})", f"/proc/{process.pid}/stat")]
    if process.tracer:
        facts.append(Fact(f"process {process.tracer} traces it, as a debugger does", f"/proc/{process.pid}/status"))
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{stall.role} (pid {process.pid}) was stopped by a signal",
        because=facts,
        remedies=(Remedy("Let it go on", "nothing was lost", f"kill -CONT {process.pid}", automatic=True),),
    )
