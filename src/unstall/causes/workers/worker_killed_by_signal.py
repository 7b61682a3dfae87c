"""A worker was killed by a signal.

## What happens
Somebody or something outside killed a worker: an administrator, a batch system at its limit, a script that
cleans up, or the code itself. The main process notices and ends the training with `DataLoader worker (pid …) is killed
by signal`, or, if it was just receiving a batch from that worker, with a puzzling `ConnectionResetError` or `EOFError`.

## How to recognise it
The worker's exit status names the signal. The kernel did not run out of memory meanwhile: that is `worker-oom-killed`.

## Example
```
kill -9 12345            # a worker of a training that somebody took for a leftover
```

## Use instead
Find out who sends it: `journalctl -k`, the batch system's log, `auditctl`. A training that must survive it needs a
loader that replaces a dead worker.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2}

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
    """The first child that ended with a signal from outside, while the kernel had memory."""
    if not ending.failed or ending.oom_kills:
        return
    for one in ending.exits:
        beat = ending.of_worker(one.pid)
        if one.code >= 0 or -one.code not in OUTSIDE or beat is None or beat.number is None:
            continue
        name = signal.Signals(-one.code).name
        words = ending.last_words
        facts = [Fact(f"worker {beat.number} (pid {one.pid}) was killed by {name}", "its exit status")]
        if beat.stage == "fetching" and beat.sample is not None:
            facts.append(Fact(f"it was fetching sample {beat.sample}", "flight record"))
        if words is not None:
            facts.append(Fact(f"the training then ended with {words.type}", "its traceback"))
        yield cause.finding(
            Confidence.CERTAIN,
            title=f"worker {beat.number} was killed by {name}, and that ended the training",
            where=words.where if words is not None else (),
            sample=beat.sample if beat.stage == "fetching" else None,
            because=facts,
        )
        return
