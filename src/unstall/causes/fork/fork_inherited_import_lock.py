"""A worker was forked while another thread imported a module: in the worker that import never ends.

## What happens
While a module is imported, Python keeps a lock for it, so that other threads wait until it is complete. `fork` copies
that lock as it is, but not the thread that is importing. The first `import` of the same module in the worker, also
one inside a library, waits for a thread that does not exist.

## How to recognise it
The worker waits in an `import` statement, inside importlib, for the lock of a module. The lock names its owner: a
thread that the worker does not have.

## Example
```python
threading.Thread(target=warm_up).start()           # imports a large module, for some seconds
for batch in DataLoader(dataset, num_workers=2):   # forks meanwhile; __getitem__ imports it, too
    ...
```

## Use instead
Import at the top of the file, before any thread or worker is started. Or `warm_up_thread.join()` before the loop. Or
`DataLoader(..., multiprocessing_context="forkserver")`: then nothing is inherited.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="fork-inherited-import-lock",
    title="A worker inherited an import that another thread had begun",
    remedies=(
        Remedy("Import before threads and workers start", "at the top of the file"),
        Remedy(
            "Or start workers with forkserver or spawn",
            "then they inherit no lock",
            'DataLoader(..., multiprocessing_context="forkserver")',
        ),
    ),
)
_BEGINS = ("importlib._bootstrap>", "_load_unlocked")


@cause.detector
def from_waits(stall: Stall, processes: Processes, stacks: Stacks) -> Iterator[Finding]:
    """A forked process waits for the end of an import whose thread it does not have."""
    one = stall.wait.object
    parent = processes.forked_from(stall.process.pid)
    if one is None or not stall.imports or not one.searched or one.threads or parent is None:
        return
    importing = next((stack for stack in stacks.of(parent.pid) if stack.find(*_BEGINS)), None)
    facts = [
        stall.fact(f"{stall.role} waits for {one.label}"),
        stall.fact(f"the lock of that import belongs to a thread that {stall.role} does not have"),
        stall.fact(f"it was forked from pid {parent.pid}: a fork copies locks, but not the threads that hold them"),
    ]
    if importing is not None:
        facts.append(Fact(f"thread {importing.tid} of pid {parent.pid} is still importing", "its Python stack"))
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{stall.role} waits for an import that a thread of its parent had begun when it was forked",
        because=facts,
    )
