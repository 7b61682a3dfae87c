"""A worker was killed by a signal.

## What happens
Somebody or something outside killed a worker: an administrator, a batch system at its limit, a script that cleans
up, or the code itself. The main process notices and ends the training with `DataLoader worker (pid …) is killed by
signal`, or, if it was just receiving a batch from that worker, with a puzzling `ConnectionResetError` or
`EOFError`.

## How to recognise it
The worker's exit status names the signal. The kernel did not run out of memory meanwhile: that is
`worker-oom-killed`. Where the training's own code sent the signal, unstall names the line.

## Example
```
kill -9 12345            # a worker of a training that somebody took for a leftover
```

## Use instead
Find out who sends it: `journalctl -k`, the batch system's log, `auditctl`. A training that must survive it needs a
loader that replaces a dead worker.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.deaths import death_of, signal_name
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="worker-killed-by-signal",
    title="A worker was killed by a signal, and that ended the training",
    remedies=(
        Remedy("Find out who sends the signal", "the batch system's log, a clean-up script, the code itself"),
        Remedy("Start the training again from its last checkpoint", "the worker did nothing wrong that can be seen"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """The worker that torch misses was ended by a signal that does not come from a crash of its own code."""
    death = death_of(ending)
    if death is None or death.signal is None or death.is_fault:
        return
    name, sender = signal_name(death.signal), death.sender
    facts = [Fact(f"{death.role} (pid {death.pid}) was killed by {name}", "its exit status")]
    if sender is not None:
        itself = "by itself" if sender.pid == death.pid else f"by process {sender.pid} of this training"
        facts.append(Fact(f"the signal was sent {itself}", "audit of os.kill"))
    facts += death.facts()
    yield cause.finding(
        Confidence.POSSIBLE if death.for_memory is not None else Confidence.CERTAIN,
        title=f"{death.role} was killed by {name}, and that ended the training",
        where=death.sender_places() or ending.loop(),
        sample=death.sample,
        because=facts,
    )
