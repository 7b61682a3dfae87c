"""The process of a multiprocessing.Manager is gone, and its dicts and lists with it.

## What happens
`Manager().dict()` lives in a process of its own; everybody else has only a proxy. When that process is killed, or
ends because its `with` block was left, the next use of a proxy fails with `ConnectionResetError`, `EOFError`,
`BrokenPipeError` or `FileNotFoundError`, which name neither the Manager nor the reason.

## How to recognise it
The traceback leads through `managers.py`: a proxy asked, and nobody answered. The exit status of the Manager's
process says how it ended.

## Example
```python
with multiprocessing.Manager() as manager:
    cache = manager.dict()
train(cache)                                  # too late: the Manager ended with its block
```

## Use instead
Keep the Manager as long as its proxies: use them inside its `with` block. Better: a shared array
(`torch.Tensor.share_memory_()`), or a cache in each worker. They need no other process, and are much faster.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.crash_signs import is_manager_gone
from unstall.evidence.deaths import signal_name
from unstall.evidence.endings import Ending, Exit
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="manager-process-dead",
    title="The process of a multiprocessing.Manager is gone",
    remedies=(
        Remedy(
            "Keep the Manager as long as its dicts and lists",
            "",
            "with Manager() as manager:\n    train(manager.dict())",
        ),
        Remedy("Share arrays instead", "they need no other process", "table.share_memory_()"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """A proxy lost its connection to the Manager, or found nobody at its address."""
    said = ending.failure
    if said is None or not is_manager_gone(said):
        return
    gone = next((one for one in ending.exits if "Manager" in one.name), None)
    facts = [Fact(said.first_line, "its traceback, in multiprocessing/managers.py")]
    if gone is not None:
        facts.append(Fact(f"{gone.name} (pid {gone.pid}) {_end(gone)}", "its exit status"))
    killer = ending.killer_of(gone.pid, -gone.code) if gone is not None and gone.code < 0 else None
    if killer is not None:
        facts.append(Fact(f"process {killer.pid} of this training had sent that signal", "audit of os.kill"))
    yield cause.finding(
        Confidence.CERTAIN if gone is not None else Confidence.LIKELY,
        where=said.where or ending.loop(),
        sample=said.sample if said.in_fetch else None,
        because=facts,
    )


def _end(gone: Exit) -> str:
    return f"was killed by {signal_name(-gone.code)}" if gone.code < 0 else f"ended with exit code {gone.code}"
