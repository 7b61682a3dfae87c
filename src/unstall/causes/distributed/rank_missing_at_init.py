"""A rank has not come to `init_process_group`, and the others wait for it there.

## What happens
`init_process_group` returns when all ranks have called it with the same address and the same world size. One of
them is missing: it was never started, it has ended, it was given another port, or it is stuck in what it does
before. The others wait for half an hour, without a word, and then fail with an error about a store or a
connection.

## How to recognise it
Some ranks are in `init_process_group`. Another one is not among the processes, has ended, is in the same call
with another address, or stands somewhere before it and does not get on.

## Example
```python
# started with WORLD_SIZE=3, but only two of these were started:
dist.init_process_group("gloo", rank=rank, world_size=3)
```

## Use instead
```
torchrun --nproc-per-node=3 train.py        # starts all of them, and ends all when one ends
```
and a time limit that is short while everything starts: `init_process_group(…, timeout=timedelta(minutes=2))`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.found import Found
from unstall.evidence.processes import Processes
from unstall.evidence.ranks import JOINING, LARGEST_WORLD, Rank, Ranks, names
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.evidence.threads import Thread, Threads
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

LONG_PAUSE_S = 2.0  # a launcher that sleeps for so long may start another rank when it wakes up

cause = Cause(
    slug="rank-missing-at-init",
    title="A rank is missing when the others meet for the first time",
    remedies=(
        Remedy(
            "Start every rank, with the same address, port and world size", "", "torchrun --nproc-per-node=N train.py"
        ),
        Remedy(
            "Give the start a short time limit",
            "then it fails with an error instead of waiting for half an hour",
            "dist.init_process_group(..., timeout=timedelta(minutes=2))",
        ),
    ),
)


@cause.detector
def not_there(stall: Stall, ranks: Ranks, processes: Processes, threads: Threads) -> Iterator[Finding]:
    """No process has that number, or the one that had it has ended."""
    me = ranks.get(stall.wait.pid)
    if me is None or stall.wait.call is None or stall.wait.call.name != JOINING or stall.cycle:
        return
    gone = [one for one in ranks.all if one.ended]
    absent = tuple(one for one in range(min(me.world, LARGEST_WORLD)) if ranks.number(one) is None)
    facts = _joining(ranks)
    if gone:
        facts += [Fact(f"rank {one.number} {one.end}", "its exit status") for one in gone]
        confidence = Confidence.CERTAIN
        title = f"rank {gone[0].number} {gone[0].end}, and the others wait for it in init_process_group()"
    elif absent:
        here = ranks.here
        facts.append(Fact(f"no process of this training is {names(absent)} of {me.world}", "its environment"))
        if not here:
            facts.append(Fact("other machines can't be seen from here", "the address where the ranks meet"))
        launcher = _launcher(ranks, processes, threads)
        waits = launcher is not None and launcher.still and launcher.wakes_in_s is None
        if launcher is not None and waits:
            facts.append(Fact("who started the ranks waits for them to end", f"system call {launcher.last.syscall}"))
        sleeps = launcher is not None and (launcher.wakes_in_s or 0.0) > LONG_PAUSE_S
        lasts = (stall.long and waits) or (stall.very_long and not sleeps)
        confidence = Confidence.LIKELY if here and lasts else Confidence.POSSIBLE
        title = f"{names(absent)} of {me.world} {'is' if len(absent) == 1 else 'are'} missing: {_who(ranks)} in init_process_group()"
    else:
        return
    yield cause.finding(confidence, title=title, where=stall.where(), because=facts)


@cause.detector
def elsewhere(stall: Stall, ranks: Ranks, stacks: Stacks) -> Iterator[Finding]:
    """The ranks meet at different addresses, or one of them is in another call."""
    circle = [one for one in (ranks.get(wait.pid) for wait in stall.cycle) if one is not None and one.call is not None]
    if (
        not circle
        or not any(one.call and one.call.name == JOINING for one in circle)
        or len(circle) != len(stall.cycle)
    ):
        return
    everybody = [one for one in ranks.all if one.call is not None]
    groups: dict[tuple[str, str, int], list[Rank]] = {}
    for one in everybody:
        groups.setdefault((one.call.name if one.call else "", one.master, one.world), []).append(one)
    odd = min(groups.values(), key=lambda group: (len(group), any(one.number == 0 for one in group)))
    facts = [
        Fact(
            f"{names(tuple(one.number for one in group))}: {name}() at {master or 'an unknown address'}, {world} ranks",
            "its stack and its environment",
        )
        for (name, master, world), group in groups.items()
    ]
    numbers = names(tuple(one.number for one in odd))
    verb = "meets" if len(odd) == 1 else "meet"
    same = len({one.master for one in everybody}) == 1
    different = "another address" if not same else "another number of ranks"
    if len({name for name, _, _ in groups}) > 1:
        different = "other calls to make"
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{numbers} {verb} the others nowhere: they were given {different}",
        where=_place(odd[0], stacks) or stall.where(),
        because=facts,
    )


@cause.detector
def before(stall: Stall, ranks: Ranks, found: Found) -> Iterator[Finding]:
    """It is stuck in what it does before it joins."""
    rank = ranks.get(stall.main_pid)
    if rank is None or rank.call is not None or not any(one.call and one.call.name == JOINING for one in stall.passed):
        return
    root = found.surest
    said = Fact(root.title, "see below") if root else stall.fact(f"{stall.role} waits for {stall.wait.text}")
    yield cause.finding(
        found.certainty(stall),
        title=f"rank {rank.number} has not come to init_process_group(): {root.title if root else 'it is stuck before'}",
        where=root.where if root else (),
        sample=root.sample if root else None,
        because=(*_joining(ranks), said),
    )


def _launcher(ranks: Ranks, processes: Processes, threads: Threads) -> Thread | None:
    """The main thread of the process that has started the ranks."""
    parents = {one.ppid for rank in ranks.all if (one := processes.get(rank.pid))}
    return threads.get(parents.pop()) if len(parents) == 1 else None


@cause.detector
def at_the_launcher(stall: Stall) -> Iterator[Finding]:
    """`torchrun` starts no rank before all machines have come."""
    frame = stall.stack.find("rendezvous.py", "next_rendezvous") if stall.stack else None
    if frame is None or "torch/distributed/elastic" not in frame.file:
        return
    yield cause.finding(
        Confidence.POSSIBLE,
        title="the launcher waits for other machines, and starts no rank before they have come",
        where=stall.where(),
        because=(stall.fact("it is in next_rendezvous(), where the launchers of all machines meet"),),
    )


def _joining(ranks: Ranks) -> list[Fact]:
    numbers = tuple(one.number for one in ranks.all if one.call is not None and one.call.name == JOINING)
    verb = "waits" if len(numbers) == 1 else "wait"
    return [Fact(f"{names(numbers)} {verb} in init_process_group()", "the stacks")] if numbers else []


def _who(ranks: Ranks) -> str:
    numbers = tuple(one.number for one in ranks.all if one.call is not None and one.call.name == JOINING)
    return f"{names(numbers)} {'waits' if len(numbers) == 1 else 'wait'}"


def _place(rank: Rank, stacks: Stacks) -> tuple[Location, ...]:
    stack = stacks.get(rank.thread)
    role = f"rank {rank.number}"
    return tuple(stack.location(one, role) for one in stack.user_frames()) if stack else rank.where
