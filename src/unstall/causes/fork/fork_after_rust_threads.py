"""A forked worker waits, inside a library, for the library's own threads, which only its parent has.

## What happens
Some libraries keep a pool of threads of their own, below Python: Hugging Face tokenizers and polars (Rust's rayon),
and others. `fork` copies the pool's books, but not its threads. In the worker the library hands out work, and nobody
takes it. With `TOKENIZERS_PARALLELISM=true` tokenizers do exactly this after a fork.

## How to recognise it
The worker waits inside a library's code. Threads of the same library, which run no Python, wait for work in its
parent; the worker has none of them.

## Example
```python
os.environ["TOKENIZERS_PARALLELISM"] = "true"
tokenizer.encode_batch(texts)                       # starts threads, in the main process

def __getitem__(self, index):
    return tokenizer.encode_batch(self.texts[index])     # in a forked worker: for ever
```

## Use instead
```python
os.environ["TOKENIZERS_PARALLELISM"] = "false"      # before tokenizers is used
DataLoader(dataset, num_workers=2, multiprocessing_context="forkserver")     # or this, for any library
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.evidence.threads import Thread, Threads
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="fork-after-rust-threads",
    title="A forked worker waits inside a library for threads that it does not have",
    remedies=(
        Remedy("Switch the library's threads off in workers", "", 'os.environ["TOKENIZERS_PARALLELISM"] = "false"'),
        Remedy(
            "Or start workers with forkserver or spawn",
            "then the library makes its threads anew",
            'DataLoader(..., multiprocessing_context="forkserver")',
        ),
    ),
)
_SYSTEM = re.compile(r"^(libc|libpthread|ld-|libpython|python|libstdc|libgcc|libm\.)")
_OTHER_CAUSE = re.compile(r"lib(g|i|x)?omp|openblas|libmkl_\w*thread|libtbb", re.IGNORECASE)


@cause.detector
def from_waits(stall: Stall, processes: Processes, threads: Threads, stacks: Stacks) -> Iterator[Finding]:
    """A forked process sleeps inside a library that has threads in its parent, and none here."""
    parent = processes.forked_from(stall.process.pid)
    if stall.wait.kind is not Kind.NATIVE or parent is None or stall.thread is None or stall.wait.limit_s is not None:
        return
    library = _library(stall.thread)
    if not library or any(_OTHER_CAUSE.search(one) for one in stall.thread.libraries[:4]):
        return
    pool = [one for one in _native(threads.of(parent.pid), stacks) if _library(one) == library]
    if not pool or any(_library(one) == library for one in _native(threads.of(stall.process.pid), stacks)):
        return
    yield cause.finding(
        Confidence.LIKELY,
        title=f"{stall.role} waits inside {library} for threads that only its parent has",
        because=(
            stall.fact(f"{stall.role} is blocked in {library}"),
            Fact(f"{len(pool)} threads of {library} wait for work in its parent, pid {parent.pid}", "native stacks"),
            Fact(f"{stall.role} was forked from it, and has no such thread: a fork does not copy them", "/proc"),
        ),
    )


def _native(threads: tuple[Thread, ...], stacks: Stacks) -> list[Thread]:
    """The threads that run no Python code."""
    return [one for one in threads if stacks.get(one.tid) is None and one.tid != one.pid]


def _library(thread: Thread) -> str:
    """The innermost library on a thread's native stack that is not the system's."""
    return next((one for one in thread.libraries if not _SYSTEM.match(one)), "")
