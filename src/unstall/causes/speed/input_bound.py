"""The training waits for data most of the time, because making samples takes so much computing.

## What happens
Each sample is decoded, augmented, converted in `__getitem__`. The workers together make fewer batches per second
than the training could use, so it waits, and the GPU with it. The loss seems to stand still; nothing is wrong with it.
Each worker is a process of its own: they do not hinder each other by Python's lock, but they share the cores.

## How to recognise it
The training loop spends most of its time in `next(iterator)`, and the workers are busy all the while. unstall names
the line that costs most.

## Example
```python
def __getitem__(self, index):
    image = self.images[index]
    for _ in range(1000):
        image = image + 1            # a thousand passes over the image, for every sample, in every epoch
    return image
```

## Use instead
Make that line cheaper first. What is the same in every epoch can be done once, before the training, and stored. Then use
as many workers as there are cores, or a smaller image, or move the work to the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence import loading
from unstall.evidence.timings import Timings
from unstall.model.cause import Cause
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Fact, Finding, Remedy

COMPUTES = 0.6

cause = Cause(
    slug="input-bound",
    title="The training waits for data: its workers can't make samples fast enough",
    verdict=Verdict.SLOW,
    remedies=(
        Remedy("Make the costliest line cheaper", "it is paid for every sample, in every epoch"),
        Remedy("Do once, before the training, what is the same in every epoch", "and store the result"),
    ),
)


@cause.detector
def from_timings(timings: Timings) -> Iterator[Finding]:
    """Most time goes into waiting for batches, and the workers compute meanwhile."""
    if not timings.workers or not loading.waits(timings):
        return
    facts = loading.facts(timings)
    computes = timings.recent.computing >= COMPUTES
    remedies = list(cause.remedies)
    if computes and timings.workers < timings.cores:
        more = f"there are {timings.cores} cores for {timings.workers} workers"
        remedies.append(Remedy("Use more workers", more, f"DataLoader(…, num_workers={timings.cores})"))
    if not computes:
        facts.append(
            Fact(
                "the workers mostly wait, for storage or a server; unstall can't say if it could be faster", "CPU time"
            )
        )
    yield cause.finding(
        Confidence.CERTAIN if computes and timings.samples else Confidence.POSSIBLE,
        title=f"the training waits for data {timings.recent.waiting:.0%} of the time: making samples takes too long",
        where=loading.places(timings, "a worker"),
        because=facts,
        remedies=remedies,
    )
