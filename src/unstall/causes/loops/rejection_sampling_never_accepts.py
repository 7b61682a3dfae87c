"""A loop draws random candidates until one is accepted, and none ever is.

## What happens
Negative sampling, random crops, or "draw again until it is valid": for one sample nothing can be accepted (a user
who has seen every item, an image without an object, an empty mask). The loop draws for ever.

## How to recognise it
The thread computes in a loop without a limit that draws random numbers, at the same sample in every look.

## Example
```python
while True:
    item = random.randrange(n_items)
    if item not in seen[user]:           # this user has seen all of them
        return item
```

## Use instead
```python
for _ in range(1000):
    ...
raise RuntimeError(f"no negative item for user {user}")     # or choose from the set of those that are left
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.code import Code
from unstall.evidence.motion import spinning_loop
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="rejection-sampling-never-accepts",
    title="A loop draws random candidates, and none is ever accepted",
    remedies=(
        Remedy("Choose among what is allowed", "instead of drawing until something fits"),
        Remedy("Or limit the number of tries", "and raise an error that names the sample"),
    ),
)


@cause.detector
def from_motion(stall: Stall, code: Code) -> Iterator[Finding]:
    """A thread goes round in a loop without a limit that draws random numbers."""
    if not stall.makes_sample or stall.wait.kind is not Kind.RUNNING or stall.stack is None:
        return
    loop = spinning_loop(stall.stack, code)
    if loop is None or not loop.draws_random or loop.approaching:
        return
    sure = stall.very_long or (loop.frozen and loop.rounds)
    yield cause.finding(
        Confidence.LIKELY if sure else Confidence.POSSIBLE,
        title=f"{stall.role} draws random candidates in {loop.frame.function} and accepts none",
        where=stall.where(stall.at(loop.frame, loop.line)),
        because=(
            Fact("each round of the loop draws random numbers", "the source"),
            *loop.facts(stall.stack, stall.doing),
        ),
    )
