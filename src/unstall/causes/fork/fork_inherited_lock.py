"""A worker was forked while another thread held a lock: in the worker it stays locked for ever.

## What happens
`fork` copies the memory of the main process, locks included, but only the thread that forks goes on in the copy.
A lock that another thread (a logger, a metrics uploader, a cache refresher) held at that moment is copied as
*locked*, and the thread that would release it does not exist in the worker.

## How to recognise it
The worker waits for a lock that stands at the same address in its parent's memory. No thread of the worker holds
it; a thread of the parent does, or did when the worker was forked. It happens at the worker's first sample, often
in all workers at once.

## Example
```python
cache_lock = threading.Lock()                     # a background thread holds it now and then
loader = DataLoader(dataset, num_workers=2)       # forks: `with cache_lock:` in __getitem__ may never return
```

## Use instead
```python
DataLoader(dataset, num_workers=2, multiprocessing_context="forkserver")   # or "spawn": nothing is inherited
```
or start the background thread after the workers, or make the lock new in each worker:
`os.register_at_fork(after_in_child=renew_the_lock)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.loaders import Loaders
from unstall.evidence.processes import Processes
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="fork-inherited-lock",
    title="A worker inherited a locked lock when it was forked",
    remedies=(
        Remedy(
            "Start workers with forkserver or spawn",
            "then they inherit no lock",
            'DataLoader(..., multiprocessing_context="forkserver")',
        ),
        Remedy("Or make the lock new in every worker", "", "os.register_at_fork(after_in_child=make_new_lock)"),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes, loaders: Loaders) -> Iterator[Finding]:
    """A private lock of a forked process that nobody in it can hold, and that stands in the parent too."""
    lock = stall.wait.lock
    parent = processes.forked_from(stall.process.pid)
    if lock is None or stall.wait.kind is not Kind.THREAD_LOCK or parent is None or stall.wait.ends or stall.imports:
        return
    if lock.inherited_from is None or (lock.holders and not lock.owner_is_gone):
        return
    holders = [one for one in lock.parent_holders if one.tid is not None]
    at_start = stall.worker is None or stall.worker.is_at_start(len(loaders.workers))
    if not (holders or lock.owner_is_gone or lock.parent_locked or at_start):
        return
    sure = bool(holders) or lock.owner_is_gone or (at_start and stall.worker is not None)
    facts = [
        Fact(f"{stall.role} waits for {lock.label}, and no thread of it holds it", stall.wait.source),
        Fact(f"the same lock stands at the same address in its parent, pid {parent.pid}", f"/proc/{parent.pid}/mem"),
    ]
    places = []
    for one in holders[:1]:
        places.append(Location(one.file, one.line, one.function, one.pid, "a thread of main"))
        facts.append(
            Fact(f"thread {one.tid} of the parent holds it: {one.function} ({one.file}:{one.line})", one.source)
        )
    if not holders and at_start:
        facts.append(
            Fact("it hangs before its first sample: nothing in it can have taken the lock", "DataLoader worker")
        )
    yield cause.finding(
        Confidence.CERTAIN if sure else Confidence.LIKELY,
        title=f"{stall.role} inherited {lock.label} locked, when it was forked",
        where=(*stall.where(), *places),
        because=facts,
    )
