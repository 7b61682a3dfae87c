"""A worker can't be started, because something in the dataset can't be pickled.

## What happens
With the start methods `spawn` and `forkserver` the dataset, the collate function and all else that a worker needs
is sent to it as a pickle. A lambda, a function or class inside of a function, an open file, a lock or a database
connection can't be pickled. The training ends when the loader is first used: `Can't pickle local object …`, `cannot
pickle '_thread.lock' object`. With `fork` the same program works, so it is often met only on another system, or
with Python 3.14.

## How to recognise it
The traceback leads from the start of a worker into pickling. unstall looks for the object that the message speaks
of.

## Example
```python
class Rows(Dataset):
    def __init__(self):
        self.lock = threading.Lock()          # can't be sent to a worker
        self.scale = lambda x: x / 255        # nor can this
```

## Use instead
Functions at the top level of a module; `functools.partial` in place of a lambda. Open files and connections in the
worker, at first use, and leave them out of the pickle with `__getstate__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence.code import Code
from unstall.evidence.endings import Culprit, Ending, Said
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

STARTS = ("multiprocessing/popen_spawn_posix.py", "multiprocessing/popen_forkserver.py")

cause = Cause(
    slug="spawn-not-picklable",
    title="A worker can't be started: what it needs can't be pickled",
    remedies=(
        Remedy("Use functions and classes at the top level of a module", "they are sent by name"),
        Remedy("Open files, locks and connections in the worker", "at first use; leave them out with __getstate__"),
        Remedy("Try it", "", "import pickle; pickle.dumps(dataset)"),
    ),
)


@cause.detector
def from_ending(ending: Ending, code: Code) -> Iterator[Finding]:
    """Starting a process failed while its arguments were pickled."""
    said = ending.failure
    if said is None or not any(said.passes(file) for file in STARTS):
        return
    if not said.passes("multiprocessing/reduction.py", "dump") or "pickle" not in said.texts.lower():
        return
    culprit = said.culprit
    facts = [Fact(said.first_line, "its traceback")]
    if culprit is not None and culprit.attribute:
        held = f"{culprit.attribute} of {culprit.owner}" if culprit.owner else culprit.attribute
        facts.append(Fact(f"it is the attribute {held}", "what was being pickled"))
    yield cause.finding(
        Confidence.CERTAIN,
        where=(*_places(said, culprit, code), *said.where),
        because=facts,
    )


def _places(said: Said, culprit: Culprit | None, code: Code) -> Iterator[Location]:
    """Where the object is made: the lambda itself, or the line that keeps it."""
    if culprit is None:
        return
    if culprit.maker is not None and "<lambda>" in culprit.maker.function:
        yield Location(culprit.maker.file, culprit.maker.line, culprit.maker.function, said.pid, said.role)
    init = culprit.owner_init
    function = next((one for one in code.all if init and (one.file, one.first_line) == (init.file, init.line)), None)
    if function is not None:
        for node in ast.walk(function.tree):
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            if any(isinstance(one, ast.Attribute) and one.attr == culprit.attribute for one in targets):
                yield Location(function.file, node.lineno, function.name, said.pid, said.role)  # type: ignore[attr-defined]
    if culprit.maker is not None:
        yield Location(culprit.maker.file, culprit.maker.line, culprit.maker.function, said.pid, said.role)
