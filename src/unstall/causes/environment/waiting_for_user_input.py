"""The training waits for somebody to type something.

## What happens
`input()`, `breakpoint()`, `pdb.set_trace()`, a password prompt, or a download that asks for consent reads from the
terminal. In a batch job, or in a terminal that nobody looks at, nobody answers.

## How to recognise it
A thread reads from standard input (descriptor 0), a terminal or a pipe that nobody writes to.

## Example
```python
breakpoint()                       # left over from debugging
answer = input("overwrite? ")      # in a job without a terminal
```

## Use instead
Take such decisions from arguments. Start jobs with `< /dev/null`: then `input()` raises an error at once instead of
waiting. `PYTHONBREAKPOINT=0` switches off every `breakpoint()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="waiting-for-user-input",
    title="The training waits for somebody to type something",
    remedies=(
        Remedy("Answer it", "or take the question out of the program"),
        Remedy("Start jobs without standard input", "input() then raises at once", "python train.py < /dev/null"),
        Remedy("Switch off breakpoints", "", "PYTHONBREAKPOINT=0 python train.py"),
    ),
)


@cause.detector
def from_waits(stall: Stall) -> Iterator[Finding]:
    """A Python thread reads from its standard input, or from a terminal."""
    descriptor = stall.wait.descriptor
    if descriptor is None or stall.stack is None or stall.wait.limit_s is not None:
        return
    reads = stall.wait.kind in (Kind.TERMINAL, Kind.PIPE_READ, Kind.SOCKET_READ, Kind.EVENTS)
    if not reads or not (descriptor.fd == 0 or descriptor.sort == "terminal"):
        return
    debugger = stall.stack.find("pdb.py", "interaction", "_cmdloop", "cmdloop") is not None
    what = "a debugger prompt" if debugger else "standard input"
    yield cause.finding(
        Confidence.CERTAIN,
        title=f"{stall.role} waits for somebody to type something ({what})",
        because=(
            stall.fact(f"{stall.role} reads from descriptor {descriptor.fd}: {descriptor.label}"),
            Fact(f"the reader is {what}", "its Python stack"),
        ),
    )
