"""A process of a pool died in the middle of a task, and the task was lost with it.

## What happens
A `multiprocessing.Pool` notices when one of its processes has died (killed for want of memory, a crash in native
code, `sys.exit` in a task), and starts another one in silence. But the task that the dead one was at is done by
nobody: `map`, `imap` and `get()` wait for its result for ever. `concurrent.futures.ProcessPoolExecutor` raises
`BrokenProcessPool` instead.

## How to recognise it
The training waits for a result of the pool. All processes of the pool wait for a task, and no task is left: so one
was lost. One of the processes may be younger than the others, since it replaces the dead one.

## Example
```python
with multiprocessing.Pool(8) as pool:
    rows = pool.map(prepare, paths)       # a worker is killed for want of memory: this never returns
```

## Use instead
Find out why it died: `dmesg | grep -i kill`, or try the tasks one by one. `ProcessPoolExecutor` tells at once
instead of waiting:
```python
with ProcessPoolExecutor(8) as pool:
    rows = list(pool.map(prepare, paths, chunksize=16))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.deaths import signal_name
from unstall.evidence.endings import Ending, Exit
from unstall.evidence.pools import idle_pool
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

REPLACED_S = 0.5

cause = Cause(
    slug="pool-worker-killed",
    title="A process of a pool died, and its task was lost",
    remedies=(
        Remedy("Find out why it died", "want of memory, a crash, sys.exit in a task", "dmesg | grep -i kill"),
        Remedy("Use concurrent.futures.ProcessPoolExecutor", "it raises an error at once instead of waiting"),
    ),
)


@cause.detector
def from_waits(stall: Stall, stacks: Stacks, processes: Processes, ending: Ending | None) -> Iterator[Finding]:
    """Somebody waits for a result of a pool in which nobody has a task."""
    pool = idle_pool(stall, stacks, processes)
    if pool is None or not pool.reads_results:
        return
    dead = [one for one in ending.exits if "PoolWorker" in one.name] if ending is not None else []
    facts = [
        stall.fact("the training waits for a result of a pool of processes"),
        Fact(f"all {len(pool.workers)} processes of the pool wait for a task, and no task is left", "their stacks"),
    ]
    facts += [Fact(f"{one.name} (pid {one.pid}) {_end(one)}", "its exit status") for one in dead[:1]]
    if pool.younger_s >= REPLACED_S:
        facts.append(Fact(f"one of them is {pool.younger_s:.1f} s younger than the oldest", "/proc/PID/stat"))
    yield cause.finding(Confidence.CERTAIN if dead else Confidence.LIKELY, because=facts)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """A ProcessPoolExecutor says that one of its processes is gone."""
    said = ending.failure
    if said is None or "BrokenProcessPool" not in {said.type, *(one.type for one in said.earlier)}:
        return
    if "terminated abruptly" not in said.texts:
        return
    yield cause.finding(
        Confidence.CERTAIN,
        title="a process of a pool died, and that ended the training",
        where=said.where or ending.loop(),
        because=[
            Fact(said.first_line, "its traceback"),
            *(Fact(f"{one.name} (pid {one.pid}) {_end(one)}", "its exit status") for one in ending.exits[:1]),
        ],
    )


def _end(one: Exit) -> str:
    return f"was killed by {signal_name(-one.code)}" if one.code < 0 else f"ended with exit code {one.code}"
