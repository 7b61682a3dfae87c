"""One rank is stuck in its data, and all others wait for it.

## What happens
The ranks of a training meet in every step. One of them does not get its next batch: its worker, or its own code
that fetches samples, is stuck. All others wait in a collective for it. On their screens, in their stacks and in
torch's own error after half an hour it looks like a broken network; nothing points to the sample.

## How to recognise it
All ranks but one are in the same collective. That one waits for a batch, and its worker does not get on.

## Example
```python
def __getitem__(self, index):
    with filelock.FileLock("cache.lock"):       # a process on this node holds it: only its rank is stuck
        return load(index)
```

## Use instead
Look at the finding beside this one: it says what the worker is stuck at. Skip or mend that sample on every rank
alike: the ranks must keep the same number of batches.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.found import Found
from unstall.evidence.ranks import Ranks, grouped, names
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Fact, Finding, Remedy

cause = Cause(
    slug="one-rank-stuck-in-data",
    title="One rank is stuck in its data, and the others wait for it",
    remedies=(
        Remedy("Mend what its worker is stuck at", "the other ranks go on as soon as this one has its batch"),
        Remedy("Keep the number of batches equal on all ranks", "one that skips a sample must fill its batch up"),
    ),
)


@cause.detector
def from_stall(stall: Stall, ranks: Ranks, stacks: Stacks, found: Found) -> Iterator[Finding]:
    """The chain goes from a collective into the data of one rank, and ends there."""
    rank = ranks.get(stall.main_pid)
    if rank is None or rank.call is not None or any(one.call and one.pid == rank.pid for one in stall.passed):
        return
    waiting = [one for one in ranks.all if one.number != rank.number and one.call is not None]
    mine = [one for one in stall.passed if one.kind in (Kind.LOADER, Kind.HANDOVER) and one.pid == rank.pid]
    if not waiting or not (mine or stall.place != "main"):
        return
    root = found.surest
    calls = sorted({one.call.text for one in waiting if one.call is not None})
    facts = [Fact(one.text, "the stacks of all ranks") for one in grouped(ranks, stacks)[:6]]
    facts.append(Fact(f"rank {rank.number} is not in it: it waits for {mine[0].text}", mine[0].source) if mine else
                 Fact(f"rank {rank.number} is not in it: it fetches its samples", "its stack"))  # fmt: skip
    facts.append(Fact(root.title, "see below") if root else stall.fact(f"{stall.role} waits for {stall.wait.text}"))
    yield cause.finding(
        found.certainty(stall),
        title=f"rank {rank.number} is stuck in its data, and {names(tuple(one.number for one in waiting))} "
        f"{'waits' if len(waiting) == 1 else 'wait'} for it in {calls[0].split(',')[0]}",
        where=root.where if root else (),
        sample=root.sample if root else None,
        because=facts,
        remedies=(*(root.remedies if root else ()), cause.remedies[-1]),
    )
