"""Shared memory is full: workers have no space for their batches.

## What happens
Workers hand their batches over through `/dev/shm`, a file system in memory. Its size is limited: half of the memory
on most machines, but 64 MB in a container that was started without more. When it is full, the training ends with
`unable to allocate shared memory(shm) for file … No space left on device`, or with a bus error in a worker.

## How to recognise it
torch's message, and what was left of `/dev/shm` while the training ran. Batches in flight need `num_workers ×
prefetch_factor ×` the size of a batch; those that the training keeps come on top.

## Example
```
docker run image python train.py                 # /dev/shm has 64 MB
```

## Use instead
```
docker run --shm-size=8g image python train.py   # or --ipc=host
# Kubernetes: an emptyDir with `medium: Memory`, mounted at /dev/shm
```
Fewer workers, a smaller `prefetch_factor`, or smaller samples (uint8 instead of float32) need less of it. Remove
files in `/dev/shm` that killed trainings have left there.
"""

from __future__ import annotations

from collections.abc import Iterator
from signal import SIGBUS

from unstall.evidence.crash_signs import is_out_of_shm, is_shm_full
from unstall.evidence.deaths import death_of
from unstall.evidence.endings import Ending
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

MEBIBYTE = 1 << 20

cause = Cause(
    slug="shm-exhausted",
    title="Shared memory (/dev/shm) is full: a batch found no space",
    remedies=(
        Remedy("Give the container more shared memory", "its default is 64 MB", "docker run --shm-size=8g …"),
        Remedy("Use fewer workers, a smaller prefetch_factor or batch", "that is what lies in /dev/shm"),
        Remedy("Remove what killed trainings have left in /dev/shm", "nobody else does", "ls -l /dev/shm"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """torch found no space in /dev/shm, or a worker touched memory there that could not be had."""
    said, death = ending.failure, death_of(ending)
    told = [one for one in (said, *ending.said) if one is not None and is_out_of_shm(one)]
    bus = death is not None and death.signal == SIGBUS and is_shm_full(ending)
    if said is None or not (is_out_of_shm(said) or bus):
        return
    facts = [Fact(told[0].first_line[:160], "its traceback")] if told else []
    if bus and death is not None:
        facts.append(Fact(f"{death.role} (pid {death.pid}) ended by SIGBUS", "its exit status"))
    resources = ending.resources
    if resources.shm_size_bytes is not None and resources.shm_least_free_bytes is not None:
        size, free = resources.shm_size_bytes / MEBIBYTE, resources.shm_least_free_bytes / MEBIBYTE
        facts.append(
            Fact(f"/dev/shm has {size:.0f} MiB; {free:.1f} MiB were free at the least", "looked at 4 times a second")
        )
    yield cause.finding(
        Confidence.CERTAIN if told else Confidence.LIKELY,
        title="/dev/shm is full: a batch found no space, and that ended the training",
        where=said.where or ending.loop(),
        because=facts,
    )


@cause.detector
def of_a_lost_batch(stall: Stall, ending: Ending) -> Iterator[Finding]:
    """A worker had no space in /dev/shm to send a finished batch with. The batch was dropped, and main waits for it."""
    said = ending.lost_on_the_way(stall.process.pid)
    if stall.wait.kind is not Kind.INDEX or said is None or not is_out_of_shm(said):
        return
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"a batch of {stall.role} was lost on its way: no space in /dev/shm",
        because=(
            Fact(said.first_line[:160], "what the worker said while it sent the batch"),
            stall.fact(f"{stall.role} waits for new work, and main waits for the batch"),
        ),
    )
