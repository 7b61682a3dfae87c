"""A forked worker waits for a thread that exists only in the main process.

## What happens
A thread pool, an event loop in a background thread, or a helper thread was started in the main process, and the
dataset uses it. `fork` copies the pool but not its threads: in the worker the pool believes that it has threads,
takes the job, and nobody ever does it. The same happens to clients that run a hidden thread (s3fs, gcsfs, some
database drivers).

## How to recognise it
The worker waits for a result, a queue or an event, and has no thread that could ever provide it. Its parent, from
which it was forked, has such threads.

## Example
```python
pool = ThreadPoolExecutor(4)
pool.submit(warm_up)                                  # starts the threads, in the main process
class Data(Dataset):
    def __getitem__(self, i):
        return pool.submit(load, i).result()          # in a forked worker: for ever
```

## Use instead
Make the pool or client in the worker: on first use in `__getitem__`, or in `worker_init_fn`. Or start the workers
with `multiprocessing_context="forkserver"` and make the pool in `__setstate__`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

INNER = (Kind.FUTURE, Kind.QUEUE, Kind.CONDITION, Kind.JOIN)

cause = Cause(
    slug="fork-lost-thread",
    title="A forked worker waits for a thread that it does not have",
    remedies=(
        Remedy("Make the pool or client in the worker", "on first use, or in worker_init_fn"),
        Remedy(
            "Or start workers with forkserver or spawn",
            "then the worker makes its own threads",
            'DataLoader(..., multiprocessing_context="forkserver")',
        ),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes, stacks: Stacks) -> Iterator[Finding]:
    """A forked process waits for one of its own threads, and has none; its parent has."""
    parent = processes.forked_from(stall.process.pid)
    if parent is None or stall.wait.kind not in INNER or stall.wait.ends or stall.wait.descriptor:
        return
    if stall.wait.lock is not None and stall.wait.lock.sort == "process-condition":
        return  # another process can end it
    if any(serves(one) for one in stacks.of(stall.process.pid) if one.tid != stall.wait.tid):
        return
    lost = [one for one in stacks.of(parent.pid) if not one.main and serves(one)]
    if not lost:
        return
    names = ", ".join(dict.fromkeys(_name(one) for one in lost[:4]))
    yield cause.finding(
        Confidence.CERTAIN if any(_is_pool(one) for one in lost) else Confidence.LIKELY,
        title=f"{stall.role} waits for {stall.wait.text}, but the thread for it exists only in the main process",
        because=(
            stall.fact(f"{stall.role} waits for {stall.wait.text}"),
            Fact(f"{stall.role} has no other thread that could end this wait", "its Python threads"),
            Fact(f"its parent (pid {parent.pid}), from which it was forked, has: {names}", "the parent's threads"),
        ),
    )


def serves(stack: Stack) -> bool:
    """A thread that does work for others, not one of torch's or multiprocessing's own."""
    return not (
        stack.find("multiprocessing/queues.py", "_feed")
        or stack.find("multiprocessing/resource_sharer.py", "_serve")
        or stack.find("torch/utils/data/_utils/pin_memory.py", "_pin_memory_loop")
    )


def _is_pool(stack: Stack) -> bool:
    return bool(
        stack.find("concurrent/futures/thread.py", "_worker")
        or stack.find("multiprocessing/pool.py", "worker")
        or stack.find("asyncio/base_events.py", "run_forever")
    )


def _name(stack: Stack) -> str:
    frame = next(stack.user_frames(), None) or (stack.frames[0] if stack.frames else None)
    place = f" at {frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame else ""
    return f"thread {stack.name or stack.tid}{place}"
