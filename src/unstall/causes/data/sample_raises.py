"""One sample raises an error, and that ends the training.

## What happens
`__getitem__` raises for one index: a damaged file, a missing label, a value out of range. With workers, torch hands
the error over to the main process, which raises it from `next(iterator)`: the training ends, whatever it has
learned so far. The message holds the worker's traceback, but not the index.

## How to recognise it
The traceback ends in `__getitem__` (or in what it calls). unstall adds the sample that was being fetched.

## Example
```python
def __getitem__(self, i):
    return self.decode(open(self.paths[i], "rb").read())     # one file of 100,000 is damaged
```

## Use instead
Look at that sample: `dataset[INDEX]`. Repair it, or leave it out: filter the list of paths once, before the
training. `unstall scan` finds all such samples before the training does.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.batches import cannot_stack, missing
from unstall.evidence.crash_signs import has_narrower_cause
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="sample-raises",
    title="One sample raises an error, and that ended the training",
    remedies=(
        Remedy("Look at that one sample", "it fails in the same way every time, unless chance is involved"),
        Remedy("Leave bad samples out before the training starts", "filter the list of samples once"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """The error that ended the training was raised while a sample was fetched."""
    said = ending.failure
    if said is None or not said.in_fetch or said.stage != "fetching" or has_narrower_cause(said):
        return
    facts = [
        Fact(said.first_line, "its traceback"),
        Fact(f"{said.role} was fetching {said.at_sample}", "flight record"),
    ]
    facts += [Fact(f"it was raised from {one.type}", "its traceback") for one in said.earlier[:1]]
    look = Remedy(f"Look at {said.at_sample} in the main process", "", f"dataset[{said.sample}]")
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{said.at_sample} raises {said.type}, and that ended the training",
        where=said.where or ending.loop(),
        sample=said.sample,
        because=facts,
        remedies=(look, cause.remedies[1]) if said.sample is not None else None,
    )


@cause.detector
def from_collating(ending: Ending) -> Iterator[Finding]:
    """The user's own collate function fails for one batch, after others went well."""
    said = ending.failure
    if said is None or not said.in_fetch or said.stage != "collating" or has_narrower_cause(said):
        return
    if missing(said.batch) or cannot_stack(said) or not said.within_fetch:
        return
    main = ending.beat_of(ending.pid)
    well = main is not None and main.delivered > 0
    indices = [str(index) for one in said.batch for index in one.indices if index is not None]
    batch = (
        f"the batch of samples {', '.join(indices[:4])}{' …' if len(indices) > 4 else ''}" if indices else "one batch"
    )
    yield cause.finding(
        Confidence.LIKELY if well else Confidence.POSSIBLE,
        title=f"the collate function raises {said.type} for {batch}, and that ended the training",
        where=said.within_fetch,
        because=[
            Fact(said.first_line, "its traceback"),
            Fact(f"{said.role} was putting together {batch}", "flight record"),
            *([Fact("other batches went well before", "flight record")] if well else ()),
        ],
        remedies=(
            Remedy("Look at the samples of this batch", "one of them is not as the collate function expects"),
            cause.remedies[1],
        ),
    )
