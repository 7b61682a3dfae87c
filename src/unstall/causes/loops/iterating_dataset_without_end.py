"""A loop goes over a Dataset itself, which never says that it is over.

## What happens
`for x in dataset:` on an object that has `__getitem__` and no `__iter__` asks for item 0, 1, 2, … until one raises
IndexError. `len(dataset)` is not asked. A `__getitem__` that never raises it (it draws random data, wraps the index
with `%`, or cuts an empty slice) makes the loop endless.

## How to recognise it
The loop is far beyond `len(dataset)`: Python keeps the loop's index, and unstall reads it.

## Example
```python
class Noise(Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        return torch.randn(10)           # also for index 1000, 1001, …
for x in Noise(): ...                    # never ends; a DataLoader over it does
```

## Use instead
```python
    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(index)
```
or loop over `range(len(dataset))`, or over a DataLoader.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Frame, Stack, Stacks, Walk
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="iterating-dataset-without-end",
    title="A loop goes over a Dataset itself, which never says that it is over",
    remedies=(
        Remedy("Raise IndexError for an index that is too large", "", "if index >= len(self): raise IndexError(index)"),
        Remedy("Or loop over the indices", "", "for index in range(len(dataset)): ..."),
    ),
)


@cause.detector
def from_stacks(stacks: Stacks, processes: Processes, code: Code) -> Iterator[Finding]:
    """A `for` loop of the training goes by index, and is beyond the object's length."""
    for stack in stacks.all:
        if stack.pid != processes.root:
            continue
        for frame in stack.user_frames():
            for walk in frame.walks:
                if walk.length is not None and walk.index > walk.length + 1:
                    yield _finding(stack, frame, walk, code)


def _finding(stack: Stack, frame: Frame, walk: Walk, code: Code) -> Finding:
    tree = code.tree(frame)
    loops = [one for one in syntax.loops_around(tree, frame.line) if isinstance(one, ast.For)] if tree else []
    line = loops[0].lineno if loops else frame.line
    getter = [one for one in stack.user_frames() if one.bare_name == "__getitem__"]
    kind = walk.type.rsplit(".", 1)[-1]
    far = walk.index > 2 * (walk.length or 0) + 1
    return cause.finding(
        Confidence.CERTAIN if far else Confidence.LIKELY,
        title=f"the loop over {kind} is at item {walk.index}, but its length is {walk.length}: nothing ends it",
        where=[stack.location(frame, "main", line), *(stack.location(one, "main") for one in getter)],
        because=[
            Fact(
                f"the loop at line {line} of {frame.function} asks for item {walk.index} next", "the loop's own index"
            ),
            Fact(f"len({kind}) is {walk.length}, and no IndexError has come", "its __len__"),
        ],
    )
