"""The kernel does not come back from a call, and nothing can interrupt it.

## What happens
A disk, a network file system or a driver does not answer. The thread sleeps inside the kernel in state D: no
signal reaches it, often not even SIGKILL. Typical are an NFS server that is away, a disk that is frozen for a
snapshot, and a failing drive. A process that starts another one sleeps so too, until the new one has begun.

## How to recognise it
The thread is in state D in every reading, and did not run in between. A busy disk shows state D as well, but its
threads run now and then.

## Example
```python
return numpy.load("/mnt/nfs/shard-17.npy")      # the server went away
```

## Use instead
Look after the disk first. Against a server that comes and goes: copy the data to a local disk before training,
and mount NFS with `soft,timeo=600`, so that calls fail instead of waiting for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.descriptors import Descriptors
from unstall.evidence.processes import Processes
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

_STARTS_PROCESS = ("vfork", "clone", "clone3")

cause = Cause(
    slug="uninterruptible-io",
    title="The kernel does not come back from a call, and nothing can interrupt it",
    remedies=(
        Remedy("Look after the disk or the server", "the kernel's log says more", "dmesg | tail -50"),
        Remedy("Go on without this worker", "it can't be killed: leave it, and never join it"),
    ),
)


@cause.detector
def from_waits(stall: Stall, descriptors: Descriptors, processes: Processes) -> Iterator[Finding]:
    """State D in every reading, and it did not run in between."""
    thread = stall.thread
    if stall.wait.kind is not Kind.DISK or thread is None or not thread.still:
        return
    last = thread.last
    facts = [stall.fact(f"{stall.role} was in state D in all {len(thread.readings)} readings, and did not run between")]
    if last.wchan:
        facts.append(Fact(f"it sleeps in the kernel function {last.wchan}", f"/proc/{stall.wait.pid}/wchan"))
    where = ""
    descriptor = descriptors.of_thread(stall.wait.pid, stall.wait.tid)
    opening = descriptors.opening(stall.wait.tid)
    path = opening.path if opening else descriptor.path if descriptor else ""
    mount = opening.filesystem if opening else descriptor.filesystem if descriptor else ""
    if path:
        where = f" with {path}"
        facts.append(
            Fact(f"it is in {last.syscall}() of {path}" + (f", on {mount}" if mount else ""), stall.wait.source)
        )
    if last.syscall in _STARTS_PROCESS:
        facts += _child_facts(stall, descriptors, processes)
        where = " while it starts another process"
    yield cause.finding(
        Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
        title=f"{stall.role} sleeps in the kernel{where}, and no signal can wake it",
        where=stall.where(),
        because=facts,
    )


def _child_facts(stall: Stall, descriptors: Descriptors, processes: Processes) -> Iterator[Fact]:
    """What the new process does that has not begun its program yet."""
    for child in processes.children(stall.wait.pid):
        opening = descriptors.opening(child.pid)
        if opening is not None:
            kind = "a named pipe" if opening.sort == "fifo" else "a file"
            yield Fact(
                f"its new process {child.pid} has not begun: it is inside open() of {opening.path}, {kind}",
                f"system call of process {child.pid}",
            )
