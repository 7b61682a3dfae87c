"""Ranks call their collectives in different order, and wait for each other.

## What happens
Collectives have no names: the first one that a rank calls meets the first one of the other ranks, and so on.
Here two ranks have called different ones. Each waits for the other to come to its own, and none ever will. The
same happens when two ranks both want to receive from each other before they send.

## How to recognise it
The ranks stand in different collectives, or in the same one with another source, inside the same loop or
function.

## Example
```python
for name in set_of_names:                       # a set of texts: another order in each process
    dist.broadcast(buffers[name], src=owner[name])
```

## Use instead
```python
for name in sorted(set_of_names):
    dist.broadcast(buffers[name], src=owner[name])
```
`TORCH_DISTRIBUTED_DEBUG=DETAIL` makes torch compare the collectives of all ranks, and fail at the first
difference.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.apart import parting
from unstall.evidence.code import Code
from unstall.evidence.ranks import Ranks, grouped
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Fact, Finding, Remedy

cause = Cause(
    slug="collective-order-mismatch",
    title="Ranks call their collectives in different order",
    remedies=(
        Remedy(
            "Make every rank call the same collectives in the same order",
            "the n-th call of each rank meets the others'",
        ),
        Remedy(
            "Let torch compare them",
            "it fails at the first difference, and names it",
            "TORCH_DISTRIBUTED_DEBUG=DETAIL torchrun …",
        ),
    ),
)


@cause.detector
def from_stacks(stall: Stall, ranks: Ranks, stacks: Stacks, code: Code) -> Iterator[Finding]:
    """Ranks wait for each other in different collectives."""
    found = parting(stall, ranks, stacks, code)
    if found is None or found.how != "order":
        return
    one, other = found.pair.mine, found.pair.theirs
    yield cause.finding(
        found.confidence,
        title=f"{one.role} waits for {one.call.text}, and {other.role} for {other.call.text}: neither comes to the other",
        where=one.where,
        because=(
            Fact(f"{one.role} waits at {one.place} for {one.call.text}", "its stack"),
            Fact(f"{other.role} waits at {other.place} for {other.call.text}", "its stack"),
            Fact("each waits for the other: neither can go on", "the chain of waits"),
            *(Fact(one.text, "the stacks of all ranks") for one in grouped(ranks, stacks)[:6]),
        ),
    )
