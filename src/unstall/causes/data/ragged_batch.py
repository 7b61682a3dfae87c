"""The samples of a batch have different shapes, and can't be stacked.

## What happens
A batch is one tensor, so all samples in it must have the same shape. One picture without colour, one shorter
recording, or texts of different length are enough. Without workers torch says `stack expects each tensor to be
equal size`, with workers `Trying to resize storage that is not resizable`. Neither names the sample.

## How to recognise it
unstall looks at the samples of the batch that failed, and says whose shape differs from the others.

## Example
```python
def __getitem__(self, i):
    return to_tensor(Image.open(self.paths[i]))       # one file is grey: (1, 224, 224) instead of (3, 224, 224)
```

## Use instead
Bring all samples to one shape in `__getitem__`: `.convert("RGB")`, `Resize`, `CenterCrop`. For sequences pad in a
collate function: `torch.nn.utils.rnn.pad_sequence(samples, batch_first=True)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.batches import cannot_stack, differing_part, made_at, missing, odd_sample
from unstall.evidence.code import Code
from unstall.evidence.endings import Ending, Said
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

MOST_SHOWN = 3

cause = Cause(
    slug="ragged-batch",
    title="The samples of a batch differ in shape, and can't be stacked",
    remedies=(
        Remedy("Bring all samples to one shape", "resize, crop or convert in __getitem__"),
        Remedy("Or pad in a collate function", "pad_sequence makes a batch of sequences", "collate_fn=my_collate"),
    ),
)


@cause.detector
def from_ending(ending: Ending, code: Code) -> Iterator[Finding]:
    """Samples could not be put together because their shapes, lengths or keys differ."""
    said = ending.failure
    if said is None or said.stage != "collating" or not said.in_fetch or missing(said.batch):
        return
    part = differing_part(said.batch)
    if part is None or not cannot_stack(said):
        return
    sample = odd_sample(said.batch, part)
    facts = [Fact(text, "the samples of the batch that failed") for text in _shapes(said, part)[:MOST_SHOWN]]
    who = f"sample {sample} has another shape than the others" if sample is not None else "samples differ in shape"
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{who}, so a batch can't be stacked",
        where=(*(said.within_fetch or made_at(said, code)), *ending.loop()),
        sample=sample,
        because=[*facts, Fact(said.first_line, "its traceback")],
    )


def _shapes(said: Said, part: str) -> list[str]:
    """Which samples have which shape: the usual one first."""
    where = f"in {part} " if part else ""
    found: dict[str, list[object]] = {}
    counts: dict[str, int] = {}
    for one in said.batch:
        found.setdefault(one.parts[part], []).extend(one.indices)
        counts[one.parts[part]] = counts.get(one.parts[part], 0) + one.count
    texts = []
    for text in sorted(found, key=lambda one: -counts[one]):
        some = ", ".join(str(one) for one in found[text][:4] if one is not None)
        more = " …" if counts[text] > 4 else ""
        plural = "samples" if counts[text] > 1 else "sample"
        texts.append(f"{counts[text]} {plural} {f'({some}{more}) ' if some else ''}{where}made as {text}")
    return texts
