"""The start method is set while the script is imported, so every worker sets it again and fails.

## What happens
`multiprocessing.set_start_method("spawn")` stands at the top level of the script. With spawn and forkserver each
worker imports the script, and there the method is set already: `RuntimeError: context has already been set` ends
every worker. The main process only says `DataLoader worker (pid …) exited unexpectedly`.

## How to recognise it
A child that was just starting raised that error from `set_start_method`.

## Example
```python
import torch.multiprocessing as mp

mp.set_start_method("spawn")         # runs in the workers, too

if __name__ == "__main__":
    main()
```

## Use instead
Set it inside the main guard, or for one loader alone: `DataLoader(…, multiprocessing_context="spawn")`.
`force=True` hides the error, but changes the method behind the back of whoever has set it.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.endings import UNCAUGHT, Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="start-method-set-at-import",
    title="Workers set the start method again, and fail",
    remedies=(
        Remedy(
            "Set the start method inside the main guard",
            "workers import the script, and must not run this line",
            'if __name__ == "__main__":\n    mp.set_start_method("spawn")\n    main()',
        ),
        Remedy("Or choose it for one loader", "", 'DataLoader(..., multiprocessing_context="spawn")'),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """A child of the training failed to set the start method while it was importing the script."""
    if not ending.failed:
        return
    for said in ending.said:
        if said.kind != UNCAUGHT or said.pid == ending.pid or "context has already been set" not in said.message:
            continue
        if not said.passes("multiprocessing/context.py", "set_start_method") or not said.passes(
            "multiprocessing/spawn.py"
        ):
            continue
        yield cause.finding(
            Confidence.CERTAIN,
            where=(*said.where, *ending.loop()),
            because=(
                Fact(f"process {said.pid} was importing the script, and set the start method", "its last words"),
                Fact(said.first_line, "its traceback"),
            ),
        )
        return
