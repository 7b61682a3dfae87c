"""A loop in the code that makes a sample never ends.

## What happens
A `while` loop in `__getitem__` (or in a transform, or in what they call) waits for something that never becomes
true: an index that is not advanced, a cursor that jumps over its goal, a list that links back to itself. The
worker computes at full speed and never hands over its batch. Nothing is printed.

## How to recognise it
The thread uses a whole core; the same sample, the same function, the same loop in every look; the loop's source
has no limit, and what its condition looks at does not change, or goes in circles.

## Example
```python
i = 0
while i < len(tokens):
    if tokens[i] == PAD:
        continue            # i is never advanced here
    i += 1
```

## Use instead
```python
for i, token in enumerate(tokens): ...      # a `for` over something finite always ends
```
or give the loop a limit, and raise an error that names the sample when it is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.code import Code, SourceFile
from unstall.evidence.endless_loops import frozen_loops
from unstall.evidence.motion import spinning_loop
from unstall.evidence.sample_code import DATASET_WORDS, sample_functions
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

cause = Cause(
    slug="infinite-loop-in-getitem",
    title="A loop that makes a sample never ends",
    remedies=(
        Remedy(
            "Make sure that every round comes closer to the loop's end",
            "look at `continue`, and at what the test reads",
        ),
        Remedy("Give the loop a limit", "and raise an error that names the sample when it is reached"),
    ),
)


@cause.detector
def from_motion(stall: Stall, code: Code) -> Iterator[Finding]:
    """A thread goes round in a loop without a limit while it makes a sample."""
    if not stall.makes_sample or stall.wait.kind is not Kind.RUNNING or stall.stack is None:
        return
    loop = spinning_loop(stall.stack, code)
    if loop is None or (stall.place == "iterable" and syntax.yields(loop.node)):
        return
    if syntax.swallows_errors(loop.node) or loop.draws_random:
        return  # those have causes of their own
    confidence = loop.never_ends(long=stall.long, very_long=stall.very_long)
    if confidence is not None:
        yield cause.finding(
            confidence,
            title=f"{stall.role} goes round in the loop at line {loop.line} of {loop.frame.function} for ever",
            where=stall.where(stall.at(loop.frame, loop.line)),
            because=loop.facts(stall.stack, stall.doing),
        )


@cause.detector
def in_source(source: SourceFile) -> Iterator[Finding]:
    """A `while` loop that runs for a sample, and changes nothing that its test looks at."""
    for function in sample_functions(source.tree) if source.mentions(*DATASET_WORDS) else ():
        for loop in frozen_loops(function.node):
            test = ast.unparse(loop.test)
            yield cause.finding(
                Confidence.LIKELY,
                title=f"nothing in the loop can make `{test}` false",
                where=(Location(source.path, loop.lineno, function.name),),
                because=(
                    Fact(f"the loop changes nothing that `{test}` looks at, and has no other way out", "the source"),
                ),
            )
