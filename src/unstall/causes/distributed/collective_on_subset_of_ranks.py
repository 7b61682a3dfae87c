"""A collective is called by some of the ranks only.

## What happens
A collective such as `barrier()`, `all_reduce()` or `all_gather()` ends only when every rank of its group has
called it. Here it stands behind a condition that only some ranks meet, most often `if rank == 0:`. Those wait
in it; the others have gone on to their next collective and wait there. Nobody prints a word.

## How to recognise it
The ranks wait in different calls, and the place of one of them is behind a condition that the others did not
meet.

## Example
```python
if rank == 0:
    save(model)
    dist.barrier()          # the others never call it
loss.backward()             # they wait here for rank 0
```

## Use instead
```python
if rank == 0:
    save(model)
dist.barrier()              # every rank calls it
```
Look into what is called there, too: `state_dict()` of a sharded model, a metric's `compute()`, `model(…)` of a
wrapped model are collectives as well. For some ranks only, make a group of their own with `dist.new_group`.
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
    slug="collective-on-subset-of-ranks",
    title="A collective is called by some of the ranks only",
    remedies=(
        Remedy("Call it on every rank, outside of the condition", "it waits for all ranks of its group"),
        Remedy("Make a group of the ranks that call it", "", "group = dist.new_group([0, 1]); dist.barrier(group)"),
    ),
)


@cause.detector
def from_stacks(stall: Stall, ranks: Ranks, stacks: Stacks, code: Code) -> Iterator[Finding]:
    """One rank is behind a condition that another one did not meet, and they wait for each other."""
    found = parting(stall, ranks, stacks, code)
    if found is None or found.how != "subset":
        return
    one, other = found.pair.mine, found.pair.theirs
    condition = "the condition about the rank" if found.of_rank else "the condition"
    yield cause.finding(
        found.confidence,
        title=f"{one.role} waits for {one.call.text}, which {other.role} does not call",
        where=one.where,
        because=(
            Fact(f"{one.role} waits at {one.place} for {one.call.text}", "its stack"),
            Fact(f"it is there because of {condition} in line {found.line}", "its source"),
            Fact(f"{other.role} waits at {other.place} for {other.call.text}", "its stack"),
            *(Fact(one.text, "the stacks of all ranks") for one in grouped(ranks, stacks)[:6]),
        ),
    )
