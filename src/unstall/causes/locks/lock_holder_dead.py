"""The process that held a lock has died, and took the key with it.

## What happens
A `multiprocessing.Lock` lives in shared memory. A process that is killed (by the kernel for want of memory, by a
signal, by `os._exit`) while it holds the lock never releases it, and the operating system does not do it either.
Everybody who wants the lock waits for ever.

The same happens inside one process: a thread that ends by an exception between `acquire()` and `release()` of an
`RLock` leaves it locked.

## How to recognise it
The semaphore's value is 0 (taken), but in no living process that has it mapped does the lock say that it is held
there. So whoever took it is gone. An `RLock` names its owner: a thread that does not exist any more.

## Example
```python
with lock:                 # a worker is killed here, by the out-of-memory killer, say
    cache.append(big)
```

## Use instead
Find out why the holder died (`dmesg | grep -i kill` shows the kernel's kills). Keep what is done under the lock
short. For data on disk use a file lock (`fcntl.flock`): the kernel releases it when its owner dies.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.processes import Processes
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="lock-holder-dead",
    title="The process that held a lock has died",
    remedies=(
        Remedy("Restart the training", "the lock can't be released by anybody who is still alive"),
        Remedy("Find out why the holder died", "`dmesg | grep -i kill` shows what the kernel killed"),
        Remedy("For data on disk, use fcntl.flock", "the kernel releases it when its owner dies"),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes) -> Iterator[Finding]:
    """The lock is taken, and no living process has it."""
    lock = stall.wait.lock
    if lock is None or stall.wait.kind is not Kind.SHARED_LOCK or stall.wait.ends:
        return
    if lock.holders or lock.value != 0 or not lock.searched:
        return
    only_one = lock.sort in ("process-lock", "process-rlock") or lock.largest == 1
    facts = [
        Fact(f"{lock.label} is taken: the value of its semaphore is 0", "shared memory"),
        Fact("no living process that has it mapped holds it", "SemLock.count in each of them"),
    ]
    for one in processes.all:
        if one.dead:
            how = f"signal {one.exit_signal}" if one.exit_signal else f"exit code {one.exit_code}"
            facts.append(Fact(f"process {one.pid} ({one.name}) has ended: {how}", f"/proc/{one.pid}/stat"))
    yield cause.finding(
        Confidence.CERTAIN if only_one else Confidence.POSSIBLE,
        title=f"{stall.role} waits for {lock.label}, whose holder has died",
        because=facts,
    )


@cause.detector
def of_a_thread(stall: Stall) -> Iterator[Finding]:
    """An RLock names a thread of this very process as its owner, and that thread has ended."""
    lock = stall.wait.lock
    if lock is None or lock.sort != "thread-rlock" or stall.wait.ends:
        return
    if not lock.owner_is_gone or lock.holders or lock.inherited_from is not None:
        return
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{stall.role} waits for {lock.label}, whose holder, a thread, has ended",
        because=(
            stall.fact(f"{stall.role} waits for {lock.label}"),
            Fact("the thread that it names as its owner does not exist any more", "RLock owner"),
        ),
        remedies=(
            Remedy("Use `with`", "it releases also when an exception ends the thread", "with self.lock:\n    ..."),
            Remedy("Find out why the thread ended", "the traceback of a thread is printed, and the rest goes on"),
        ),
    )
