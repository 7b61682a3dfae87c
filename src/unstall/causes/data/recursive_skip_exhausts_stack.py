"""A bad sample is skipped by asking for the next one, again and again, until Python's stack is full.

## What happens
`__getitem__` catches an error and returns `self[i + 1]`. That works for one bad file. When about a thousand in a
row are bad (a missing folder, a server that is down, a wrong path), each call waits for the next one, and Python
ends it with `RecursionError: maximum recursion depth exceeded`. The real error is buried in a huge traceback.

## How to recognise it
The traceback of the RecursionError shows the same line of the dataset hundreds of times. Look for the error that
all the samples have in common: it stands at the top.

## Example
```python
def __getitem__(self, i):
    try:
        return self.load(i)
    except OSError:
        return self[(i + 1) % len(self)]      # a thousand bad ones in a row: RecursionError
```

## Use instead
A loop with a limit, which then raises the last error:
```python
for step in range(20):
    try:
        return self.load((i + step) % len(self))
    except OSError as error:
        last = error
raise last
```
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.crash_signs import is_endless_recursion
from unstall.evidence.endings import Ending
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="recursive-skip-exhausts-stack",
    title="Bad samples are skipped by recursion, until Python's stack is full",
    remedies=(
        Remedy(
            "Skip in a loop with a limit, and raise the last error then", "a call for each bad sample fills the stack"
        ),
        Remedy("Look at why so many samples in a row are bad", "a missing folder, a wrong path, a server that is down"),
    ),
)


@cause.detector
def from_ending(ending: Ending) -> Iterator[Finding]:
    """`__getitem__` stands in the traceback very often, at one line: it calls itself from there."""
    said = ending.failure
    if said is None or not is_endless_recursion(said) or said.repeated is None or not said.repeated.user:
        return
    facts = [
        Fact(f"{said.repeated.function} stands {said.repeats} times in the traceback", "its traceback"),
        Fact(f"{said.role} was fetching {said.at_sample}", "flight record"),
    ]
    facts += [Fact(f"before that: {one.type}", "its traceback") for one in said.earlier if one.type != "RecursionError"]
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"from {said.at_sample} on, bad samples are skipped by recursion until Python's stack is full",
        where=(said.at(said.repeated), *ending.loop()),
        sample=said.sample,
        because=facts,
    )
