"""A process has too many files open.

## What happens
A process may have only so many open files, often 1024. Each batch that comes from a worker takes one for each of
its tensors, as long as the training keeps that batch. Files that are opened and never closed count, too. Then torch
says `Too many open files. Communication with the workers is no longer possible`, or some `open` fails with `[Errno
24]`.

## How to recognise it
unstall counts the open files of the process that failed. Many `/dev/shm/torch_*` are batches that somebody keeps;
many of one other file are handles that nobody closes.

## Example
```python
for batch in loader:
    history.append(batch)              # every tensor in it keeps a file open
```

## Use instead
Keep copies of what you need: `batch.clone()`, or `loss.item()`. Close files: `with open(path) as file:`. If you do
need many:
```python
torch.multiprocessing.set_sharing_strategy("file_system")     # or a higher limit: ulimit -n 65536
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.crash_signs import is_cut_off, is_out_of_files
from unstall.evidence.endings import Ending
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

BATCHES = "/dev/shm/torch_*"

cause = Cause(
    slug="fd-exhausted",
    title="A process has too many files open",
    remedies=(
        Remedy("Keep copies of what you need of a batch", "each tensor of a batch from a worker keeps a file open"),
        Remedy("Close files that were opened", "", "with open(path) as file:\n    ..."),
        Remedy(
            "Share tensors without open files, or raise the limit",
            "`ulimit -n 65536` before the training",
            'torch.multiprocessing.set_sharing_strategy("file_system")',
        ),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """The error that ended the training says that no descriptor is left, and so it was."""
    said = ending.failure
    if said is not None and is_cut_off(said):  # the other end of the line, a worker, may have had none left
        said = next((one for one in ending.said if one.number is not None and is_out_of_files(one)), said)
    if said is None or not is_out_of_files(said):
        return
    files = said.open_files
    facts = [Fact(said.first_line[:160], "its traceback")]
    if files is not None:
        facts.append(Fact(f"{said.role} had {files.count} open; {files.limit} are allowed", "/proc/self/fd"))
        facts += [Fact(f"{count} of them are {name}", "/proc/self/fd") for name, count in files.most[:1]]
    kept = files is not None and bool(files.most) and files.most[0][0] == BATCHES
    yield cause.finding(
        Confidence.CERTAIN if files is not None and files.count >= files.limit * 0.9 else Confidence.LIKELY,
        title=f"{said.role} has too many files open" + (": batches that the training keeps" if kept else ""),
        where=said.where or ending.loop(),
        sample=said.sample,
        because=facts,
        remedies=cause.remedies if not kept else (cause.remedies[0], cause.remedies[2]),
    )


@cause.detector
def of_a_lost_batch(stall: Stall, ending: Ending) -> Iterator[Finding]:
    """A worker had no descriptor to send a finished batch with. The batch was dropped, and main waits for it."""
    said = ending.lost_on_the_way(stall.process.pid)
    if stall.wait.kind is not Kind.INDEX or said is None or not is_out_of_files(said):
        return
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"a batch of {stall.role} was lost on its way: no descriptor",
        because=(
            Fact(said.first_line[:160], "what the worker said while it sent the batch"),
            stall.fact(f"{stall.role} waits for new work, and main waits for the batch"),
        ),
    )
