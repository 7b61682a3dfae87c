"""One rank of the training ended, and took the others with it.

## What happens
A rank raises an exception, or is killed. The others lose their connection to it in the middle of a step: each
of them fails with an error about a connection, and the launcher ends whoever is left. The screen is full of
tracebacks; all but one of them are about the network.

## How to recognise it
Each rank has an exit status. The first one that ended by itself is the cause: its own exception or signal. The
others ended after it, with a lost connection or by the launcher's signal.

## Example
```
rank 1   killed by SIGKILL                                 # what happened
rank 0   RuntimeError: Connection closed by peer           # what is printed
```

## Use instead
Look at the rank that died first, and at the finding beside this one. Write checkpoints, and let the launcher
start the training again from the last one: `torchrun --max-restarts=3 …`.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

from unstall.evidence import rank_endings
from unstall.evidence.endings import Ending, Exit
from unstall.evidence.found import Found
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="rank-died",
    title="One rank ended, and took the others with it",
    remedies=(
        Remedy("Look at the rank that died first", "the errors of the others only say that it is gone"),
        Remedy(
            "Let the launcher start the training again",
            "from the last checkpoint",
            "torchrun --max-restarts=3 train.py",
        ),
    ),
)


@cause.detector
def from_ending(ending: Ending, found: Found) -> Iterator[Finding]:
    """The first rank that ended by itself, with an error or by a signal."""
    dead = rank_endings.first_dead(ending)
    numbers = {one.pid: one.rank for one in rank_endings.ranks(ending)}
    if not ending.failed or dead is None:
        return
    words, root = rank_endings.words_of(ending, dead.pid), found.surest
    how = f"{words.type}: {words.message.splitlines()[0] if words.message else ''}".strip(": ") if words else _end(dead)
    facts = [Fact(f"rank {numbers[dead.pid]} (pid {dead.pid}) ended first: {_end(dead)}", "its exit status")]
    if words is not None:
        facts.append(Fact(f"its last words: {how}"[:300], "its traceback"))
    elif dead.code == -signal.SIGKILL and ending.oom_kills:
        facts.append(Fact("the kernel killed a process meanwhile, because memory had run out", "/proc/vmstat"))
    others = [one for one in rank_endings.exits(ending) if one.pid != dead.pid]
    for one in others[:4]:
        theirs = rank_endings.words_of(ending, one.pid)
        after = f"{theirs.type}: {theirs.message.splitlines()[0][:120]}" if theirs and theirs.message else _end(one)
        facts.append(Fact(f"rank {numbers[one.pid]} ended after it: {after}", "its exit status and last words"))
    lost = [one for one in ending.said if one.where]  # of the others, or of the launcher
    own = words.where if words is not None else ()
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"rank {numbers[dead.pid]} died ({how[:100]}), and the others ended because of it",
        where=(root.where if root else ()) or own or (lost[0].where if lost else ()),
        sample=root.sample if root else None,
        because=facts,
    )


def _end(one: Exit) -> str:
    if one.code >= 0:
        return f"exit code {one.code}"
    try:
        return f"killed by {signal.Signals(-one.code).name}"
    except ValueError:
        return f"killed by signal {-one.code}"
