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

from unstall.evidence.endings import IN_WORKER, Ending, Said
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

FETCH = "torch/utils/data/_utils/fetch.py"

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
    if not ending.failed or ending.last_words is None:
        return
    said = origin(ending, ending.last_words)
    if said.stage != "fetching" or not said.passes(FETCH, "fetch") or not said.where:
        return
    at = "one sample" if said.sample is None else f"sample {said.sample}"
    facts = [
        Fact(f"{said.type}: {said.message.splitlines()[0] if said.message else ''}".strip(": "), "its traceback"),
        Fact(f"{said.role} was fetching {at}", "flight record"),
    ]
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{at} raises {said.type}, and that ended the training",
        where=said.where,
        sample=said.sample,
        because=facts,
        remedies=(Remedy(f"Look at {at} in the main process", "", f"dataset[{said.sample}]"), cause.remedies[1])
        if said.sample is not None
        else None,
    )


def origin(ending: Ending, last: Said) -> Said:
    """The worker's own error, where the main process only raised it again."""
    same = [one for one in ending.said if one.kind == IN_WORKER and f"Caught {one.type} in DataLoader" in last.message]
    return same[-1] if same else last
