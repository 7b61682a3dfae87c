"""A forked worker waits inside OpenMP for threads that were not copied.

## What happens
The main process used OpenMP (a large torch operation on the CPU starts its threads). The forked worker has the
memory of that thread pool but not its threads. torch runs workers with one thread for this reason; as soon as the
worker asks for more (`torch.set_num_threads(2)`, or a library that uses OpenMP or OpenBLAS by itself), its next
large operation waits for threads that do not exist.

## How to recognise it
A forked process is blocked on a futex inside libgomp, libiomp5 or OpenBLAS, below an array operation of torch or
numpy.

## Example
```python
torch.rand(4000, 4000).sin()                 # main: starts OpenMP's threads
def __getitem__(self, i):
    torch.set_num_threads(2)                 # worker, forked
    return self.images[i].sin()              # for ever
```

## Use instead
Leave the workers at one thread (`torch.set_num_threads(1)`, the default in a worker), or start them with
`multiprocessing_context="forkserver"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unstall.evidence.processes import Processes
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Finding, Remedy

_POOLS = re.compile(r"lib(g|i|x)?omp|openblas|libmkl_\w*thread|libtbb", re.IGNORECASE)

cause = Cause(
    slug="fork-after-openmp",
    title="A forked worker waits for OpenMP threads that it does not have",
    remedies=(
        Remedy("Keep one thread in the workers", "their parent's threads were not copied", "torch.set_num_threads(1)"),
        Remedy("Or start workers with forkserver", "", 'DataLoader(..., multiprocessing_context="forkserver")'),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes) -> Iterator[Finding]:
    """A forked process sleeps on a futex inside an OpenMP library."""
    thread = stall.thread
    if thread is None or stall.wait.kind not in (Kind.NATIVE, Kind.THREAD_LOCK) or stall.wait.ends:
        return
    parent = processes.forked_from(stall.process.pid)
    inside = bool(_POOLS.search(thread.library))
    near = [one for one in thread.libraries[:4] if _POOLS.search(one)]
    if parent is None or not (inside or near):
        return
    library = thread.library if inside else near[0]
    yield cause.finding(
        Confidence.CERTAIN if inside else Confidence.LIKELY,
        title=f"{stall.role} waits inside {library} for threads that only its parent has",
        because=(
            stall.fact(f"{stall.role} is blocked in {library}"),
            stall.fact(f"it was forked from pid {parent.pid}; threads are not copied by a fork"),
        ),
    )
