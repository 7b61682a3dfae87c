"""A loop in the code that puts a batch together never ends.

## What happens
The `collate_fn` pads, packs or groups samples in a `while` loop, and for some batch its condition never becomes
true: a padding step of zero, a bucket that is never full, a sequence longer than the limit.

## How to recognise it
The worker has all samples of the batch, stands in `collate_fn`, and computes in one loop without a limit.

## Example
```python
while len(row) != longest:
    row = row + [0] * step        # jumps over `longest`, or step is 0
```

## Use instead
```python
row = row + [0] * (longest - len(row))     # or torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import Code
from unstall.evidence.motion import spinning_loop
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Finding, Remedy

cause = Cause(
    slug="infinite-loop-in-collate",
    title="A loop in the collate function never ends",
    remedies=(
        Remedy("Replace the loop by a computation", "pad_sequence from torch.nn.utils.rnn pads a list of tensors"),
        Remedy("Or give the loop a limit", "and raise an error that names the batch when it is reached"),
    ),
)


@cause.detector
def from_motion(stall: Stall, code: Code) -> Iterator[Finding]:
    """A thread goes round in a loop without a limit inside collate_fn."""
    if stall.place != "collate" or stall.wait.kind is not Kind.RUNNING or stall.stack is None:
        return
    loop = spinning_loop(stall.stack, code)
    confidence = loop.never_ends(long=stall.long, very_long=stall.very_long) if loop else None
    if loop is not None and confidence is not None:
        yield cause.finding(
            confidence,
            title=f"{stall.role} goes round in the loop at line {loop.line} of {loop.frame.function} for ever",
            where=stall.where(stall.at(loop.frame, loop.line)),
            because=loop.facts(stall.stack, stall.doing),
        )
