"""Worker processes start the training again, because the script has no main guard.

## What happens
With the start methods `spawn` and `forkserver`, each new process imports the main script. Whatever stands there
outside of functions runs again: the training, too. Python stops that with `An attempt has been made to start a new
process before the current process has finished its bootstrapping phase`, in every worker; the main process only
sees that its workers are gone. spawn is the default on macOS and Windows, forkserver on Linux from Python 3.14 on.

## How to recognise it
A child that was just starting raised that error, from a line of the script that is not inside `if __name__ ==
"__main__":`.

## Example
```python
loader = DataLoader(dataset, num_workers=4, multiprocessing_context="spawn")
for batch in loader:                  # at the top level of the script: the workers run it, too
    train(batch)
```

## Use instead
```python
def main():
    for batch in DataLoader(dataset, num_workers=4, multiprocessing_context="spawn"):
        train(batch)

if __name__ == "__main__":
    main()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.endings import UNCAUGHT, Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="spawn-without-main-guard",
    title="Workers run the script again: it has no main guard",
    remedies=(
        Remedy(
            "Put the training behind a main guard",
            "each worker imports the script",
            'if __name__ == "__main__":\n    main()',
        ),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """A child of the training was refused to start processes while it was importing the script."""
    if not ending.failed:
        return
    for said in ending.said:
        if said.kind != UNCAUGHT or said.pid == ending.pid or said.type != "RuntimeError":
            continue
        if "bootstrapping phase" not in said.message or not said.passes("multiprocessing/spawn.py"):
            continue
        yield cause.finding(
            Confidence.CERTAIN,
            where=(*said.where, *ending.loop()),
            because=(
                Fact(f"process {said.pid} was starting, and began to start processes itself", "its last words"),
                Fact("multiprocessing refused that: it was still importing the main script", "its traceback"),
            ),
        )
        return
