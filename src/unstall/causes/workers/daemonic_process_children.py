"""A worker wants to start processes of its own, which multiprocessing forbids.

## What happens
Workers of a DataLoader, and of a `multiprocessing.Pool`, are daemonic: they are ended with their parent, and would
leave their own children behind. So multiprocessing refuses: `AssertionError: daemonic processes are not allowed to
have children`. It is met where a dataset uses a Pool, a Process, a Manager, or a DataLoader with workers of its
own.

## How to recognise it
That very message. unstall names the line that wanted to start a process, and the sample.

## Example
```python
def __getitem__(self, i):
    with multiprocessing.Pool(2) as pool:            # in a worker: not allowed
        return torch.stack(pool.map(decode, self.parts[i]))
```

## Use instead
Let the DataLoader's workers be the only ones: do the work in place, and use more of them. Or use threads
(`concurrent.futures.ThreadPoolExecutor`) or a program (`subprocess.run`), which are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.crash_signs import is_child_of_daemon
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="daemonic-process-children",
    title="A worker may not start processes of its own",
    remedies=(
        Remedy("Do the work in the worker itself, and use more workers", "they are what runs at the same time"),
        Remedy("Or use threads, or subprocess", "both are allowed in a worker"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """multiprocessing refused to start a process in a daemonic one, and that ended the training."""
    said = ending.failure
    if said is None or not is_child_of_daemon(said):
        return
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{said.role} may not start processes of its own" if said.number is not None else cause.title,
        where=said.where or ending.loop(),
        sample=said.sample if said.in_fetch else None,
        because=(
            Fact("daemonic processes are not allowed to have children", "its traceback"),
            Fact(
                f"{said.role} was {said.stage}" + (f" {said.at_sample}" if said.stage == "fetching" else ""),
                "flight record",
            ),
        ),
    )
