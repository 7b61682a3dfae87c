"""A sample is None, and a batch can't be made of it.

## What happens
`__getitem__` returns None for some index: on purpose, to skip a bad file, or because a branch has no `return`.
torch does not skip such a sample. Its collate function fails with one of several messages, none of which names the
sample: `'NoneType' object has no attribute 'numel'`, `default_collate: batch must contain tensors …; found <class
'NoneType'>`.

## How to recognise it
unstall looks at the samples of the batch that failed: it says which of them are None, or hold None.

## Example
```python
def __getitem__(self, i):
    try:
        return self.load(i)
    except OSError:
        return None          # it is not skipped: the training ends here
```

## Use instead
Leave bad samples out before the training: filter the list of paths once. Or drop them in a collate function, and
mind that a whole batch may be bad:
```python
def collate(samples):
    return default_collate([one for one in samples if one is not None])
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.batches import made_none_at, missing
from unstall.evidence.code import Code
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="none-sample-in-collate",
    title="A sample is None, and a batch can't be made of it",
    remedies=(
        Remedy("Leave bad samples out before the training starts", "torch does not skip a sample that is None"),
        Remedy(
            "Drop them in a collate function",
            "a batch of bad samples alone still fails",
            "collate_fn=lambda samples: default_collate([one for one in samples if one is not None])",
        ),
    ),
)


@cause.detector
def from_ending(ending: Ending, code: Code) -> Iterator[Finding]:
    """Samples could not be put together, some of them are None, and that is what the error is about."""
    said = ending.failure
    if said is None or said.stage != "collating" or not said.in_fetch:
        return
    bad = missing(said.batch)
    everything = sum(one.count for one in bad) == sum(one.count for one in said.batch)
    if not bad or not ("NoneType" in said.texts or everything):
        return
    indices = [index for one in bad for index in one.indices if index is not None]
    sample = indices[0] if indices else None
    whole = any(one.parts.get("") == "None" for one in bad)
    who = f"sample {sample}" if sample is not None else "a sample"
    facts = [
        Fact(f"{who} {'is' if whole else 'holds'} None", "the samples of the batch that failed"),
        Fact(said.first_line, "its traceback"),
    ]
    if everything:
        facts.append(Fact("so are all other samples of this batch", "the samples of the batch that failed"))
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{who} {'is' if whole else 'holds'} None, and a batch can't be made of it",
        where=(*made_none_at(said, code), *said.where, *ending.loop()),
        sample=sample,
        because=facts,
    )
