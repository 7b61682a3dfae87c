"""One rank has fewer batches than the others, and has left the loop while they wait for it.

## What happens
Each rank trains on a shard of its own. The gradients of every step are added up over all ranks, so every rank
has to make the same number of steps. Here the shards differ: one rank has run out of batches, left the loop,
and waits somewhere else, usually at a barrier. The others are one step further in the loop and wait for its
gradients. Nobody prints a word; after half an hour torch's own time limit ends it with an error about a
collective.

## How to recognise it
One rank waits in `backward()` or `all_reduce()` inside a loop, another one in a different call behind that
loop. Each waits for the other.

## Example
```python
shard = files[rank::world_size]            # 10 files on 4 ranks: two have three of them, two have two
for batch in loader_of(shard):
    model(batch).sum().backward()          # waits for ranks that are not in the loop any more
dist.barrier()
```

## Use instead
```python
sampler = DistributedSampler(dataset, drop_last=True)     # the same number of samples on every rank
```
For data of unknown length: agree on the number of steps before the loop, or let `Join` answer for ranks that
are done:
```python
with Join([model]):
    for batch in loader: ...
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence import rank_endings
from unstall.evidence.apart import Standing, parting
from unstall.evidence.code import Code
from unstall.evidence.endings import Ending
from unstall.evidence.ranks import Ranks, grouped
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="rank-batch-count-mismatch",
    title="The ranks have different numbers of batches",
    remedies=(
        Remedy(
            "Give every rank the same number of batches",
            "each step waits for all ranks",
            "sampler = DistributedSampler(dataset, drop_last=True)",
        ),
        Remedy("Let `Join` answer for the ranks that are done", "it keeps the others going", "with Join([model]): ..."),
    ),
)


@cause.detector
def from_stacks(stall: Stall, ranks: Ranks, stacks: Stacks, code: Code) -> Iterator[Finding]:
    """One rank is in a loop that another one has left, and they wait for each other."""
    found = parting(stall, ranks, stacks, code)
    if found is None or found.how != "count":
        return
    late, early = found.pair.mine, found.pair.theirs
    facts = [
        Fact(f"{late.role} waits at {late.place} for {late.call.text}", "its stack"),
        Fact(f"{early.role} has left the loop of line {found.line}: it is at {early.place}", "its stack"),
        Fact(f"{early.role} waits there for {early.call.text}: each waits for the other", "its stack"),
        *_counts(late, early),
        *(Fact(one.text, "the stacks of all ranks") for one in grouped(ranks, stacks)[:6]),
    ]
    yield cause.finding(
        found.confidence,
        title=f"{early.role} has left the loop, and {late.role} waits in it for one more step of {early.role}",
        where=late.where,
        because=facts,
    )


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """A rank ended well, and another one, which had got more batches, lost its connection to it."""
    numbers = {one.pid: one for one in rank_endings.ranks(ending)}
    done = [numbers[pid] for pid in ending.finished if pid in numbers]
    lost = [(numbers[one.pid], rank_endings.words_of(ending, one.pid)) for one in rank_endings.exits(ending)]
    if not ending.failed or rank_endings.first_dead(ending) is not None or not done or not lost:
        return
    early = min(done, key=lambda one: (one.delivered, one.steps))
    for late, words in lost:
        if words is None or (late.delivered, late.steps) <= (early.delivered, early.steps):
            continue
        yield cause.finding(
            Confidence.CERTAIN if late.delivered > early.delivered else Confidence.LIKELY,
            title=f"rank {early.rank} was done after {early.delivered} batches, and rank {late.rank} had one more",
            where=words.where,
            because=(
                Fact(f"rank {early.rank} ended well: {early.delivered} batches, {early.steps} steps", "flight record"),
                Fact(f"rank {late.rank} was at batch {late.delivered} when it lost its connection", "flight record"),
                Fact(f"it ended with {words.type}: {words.message.splitlines()[0][:120]}", "its traceback"),
            ),
        )
        return


def _counts(*both: Standing) -> Iterator[Fact]:
    counted = [one for one in both if one.rank.delivered]
    if len(counted) == len(both):
        text = ", ".join(f"{one.role} got {one.rank.delivered} batches" for one in counted)
        yield Fact(text, "flight records")
