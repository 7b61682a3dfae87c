"""An IterableDataset goes on for ever, and the loop over it has no way out.

## What happens
`__iter__` yields in a loop without an end, as streams often do. That is fine where the training counts its steps. A
loop `for batch in loader:` that waits for the end of the data waits for ever: steps are made, but the code behind the
loop (the next epoch, the validation, the checkpoint) is never reached.

## How to recognise it
The source of `__iter__` has a loop that nothing ends, and neither has the loop over the loader: no break, no return,
no number of steps.

## Example
```python
class Stream(IterableDataset):
    def __iter__(self):
        while True:
            yield from self.records()
for epoch in range(10):
    for batch in loader:             # the first epoch never ends
        train(batch)
    validate()
```

## Use instead
```python
for batch in itertools.islice(loader, steps_per_epoch):
    train(batch)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import arithmetic, loop_limits, syntax
from unstall.evidence.code import Code, Function
from unstall.evidence.loaders import Loaders
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Frame, Stacks
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

_WRAPPERS = {"enumerate", "tqdm", "iter", "track"}
_LEAVES = {"exit", "_exit", "quit", "abort", "throw"}

cause = Cause(
    slug="iterable-never-ends",
    title="An IterableDataset goes on for ever, and the loop over it has no way out",
    remedies=(
        Remedy("Give each epoch a number of steps", "", "for batch in itertools.islice(loader, steps): ..."),
        Remedy(
            "Or let `__iter__` end after one round over the data", "", "yield from self.records()    # no `while True`"
        ),
    ),
)


@cause.detector
def from_source_in_motion(stacks: Stacks, processes: Processes, loaders: Loaders, code: Code) -> Iterator[Finding]:
    """The dataset's `__iter__` has no end, and the loop over its loader has none either."""
    main = stacks.main(processes.root)
    endless = next(_endless_iterables(stacks, loaders, code), None)
    if main is None or endless is None:
        return
    source, line = endless
    for frame in main.user_frames():
        loop = _loop_over_loader(frame, code)
        if loop is not None and not _may_leave(loop) and _something_follows(code.tree(frame), loop):
            yield cause.finding(
                Confidence.LIKELY,
                title=f"the data never ends, and nothing ends the loop over it at line {loop.lineno} of {frame.function}",
                where=[
                    Location(source.file, line, source.name, processes.root, "the dataset"),
                    main.location(frame, "main", loop.lineno),
                ],
                because=[
                    Fact(f"the loop at line {line} of {source.name} yields, and has no way out", "its source"),
                    Fact("the loop over the loader has no break, no return and no number of steps", "its source"),
                    Fact("the code behind that loop can never be reached", "its source"),
                ],
            )


def _endless_iterables(stacks: Stacks, loaders: Loaders, code: Code) -> Iterator[tuple[Function, int]]:
    """The `__iter__` of datasets that are being read, with the line of a loop in it that yields for ever."""
    frames: list[Frame] = []
    for worker in loaders.workers:
        stack = stacks.get(worker.tid)
        if worker.iterable and stack is not None:
            frames += [*worker.makers, *stack.user_frames()]
    for frame in frames:
        function = code.of(frame)
        if frame.bare_name != "__iter__" or function is None:
            continue
        for loop in syntax.walk(syntax.body_of(function.tree)):
            if isinstance(loop, syntax.LoopNode) and _yields_for_ever(loop, frame):
                yield function, loop.lineno


def _yields_for_ever(loop: syntax.LoopNode, frame: Frame) -> bool:
    if isinstance(loop, ast.While) and syntax.yields(loop) and arithmetic.steps_past(loop, frame):
        return True
    endless = isinstance(loop, ast.While) or loop_limits.is_endless_iterable(loop.iter)
    return endless and syntax.yields(loop) and not syntax.exits(loop)


def _loop_over_loader(frame: Frame, code: Code) -> ast.For | None:
    tree = code.tree(frame)
    for loop in syntax.loops_around(tree, frame.line) if tree is not None else ():
        if isinstance(loop, ast.For):
            over: ast.expr = loop.iter
            while isinstance(over, ast.Call) and over.args and syntax.called_name(over) in _WRAPPERS:
                over = over.args[0]
            kinds = frame.watched.get(f"type({ast.unparse(over)})", ())
            made = isinstance(over, ast.Call) and syntax.called_name(over) == "DataLoader"
            if made or any(str(kind).endswith("DataLoader") for kind in kinds):
                return loop
    return None


def _may_leave(loop: ast.For) -> bool:
    return bool(syntax.exits(loop)) or any(syntax.called_name(one) in _LEAVES for one in syntax.calls(loop))


def _something_follows(tree: ast.AST | None, loop: ast.For) -> bool:
    """The code counts on the loop's end: there is a loop around it, or a statement after it."""
    if tree is None:
        return False
    end = loop.end_lineno or loop.lineno
    after = any(isinstance(one, ast.stmt) and one.lineno > end for one in ast.walk(tree))
    around = any(
        isinstance(one, syntax.LoopNode) and one is not loop and one.lineno < loop.lineno <= (one.end_lineno or 0)
        for one in ast.walk(tree)
    )
    return after or around
