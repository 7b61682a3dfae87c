"""A loop tries again and again, without a limit, what can't succeed.

## What happens
`while True: try … except …: sleep` around opening a file, a download, a connection: meant for a short hiccup, it
hides a permanent error (the file does not exist, the server refuses). Each round fails like the one before, and
nothing is printed.

## How to recognise it
The thread sleeps and wakes (or computes) in one loop that has no limit: it catches the error and goes on, or waits
for a condition outside of the program.

## Example
```python
while True:
    try:
        return open(path, "rb").read()
    except OSError:
        time.sleep(0.5)              # the file is not there, and never will be
```

## Use instead
```python
for attempt in range(5):
    try:
        return open(path, "rb").read()
    except OSError as error:
        last = error
        time.sleep(0.5 * 2**attempt)
raise RuntimeError(f"sample {index}: can't read {path}") from last
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.code import Code, SourceFile
from unstall.evidence.descriptors import Descriptors
from unstall.evidence.endless_loops import retry_loops
from unstall.evidence.leaving import leaver
from unstall.evidence.motion import ActiveLoop, spinning_loop, waiting_loop
from unstall.evidence.sample_code import DATASET_WORDS, sample_functions
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

_WAITS_FOR_ITS_OWN = {  # a test on these waits for another part of the program
    "poll", "is_alive", "done", "is_set", "empty", "full", "qsize", "running", "cancelled", "ready", "acquire", "flock",
    "lockf",
}  # fmt: skip
_MUST_VANISH = {"exists", "isfile", "is_file", "lexists", "isdir", "is_dir"}
_MUST_BE_NEW = {"mkdir", "makedirs", "link", "symlink"}

cause = Cause(
    slug="retry-loop-never-succeeds",
    title="A loop retries for ever what can't succeed",
    remedies=(
        Remedy(
            "Limit the number of tries, and raise the last error",
            "a permanent failure is then seen at once",
            "for attempt in range(5):\n    ...\nraise RuntimeError(...) from last_error",
        ),
    ),
)


@cause.detector
def from_motion(stall: Stall, code: Code, descriptors: Descriptors, stacks: Stacks) -> Iterator[Finding]:
    """A thread sleeps or computes in a loop without a limit that swallows errors or waits for the outside."""
    if stall.stack is None or stall.wait.kind not in (Kind.RUNNING, Kind.SLEEPING) or leaver(stall, stacks):
        return
    sleeping = stall.wait.kind is Kind.SLEEPING
    loop = waiting_loop(stall.stack, code) if sleeping else spinning_loop(stall.stack, code)
    if loop is None or not loop.exits or _names(loop) & _WAITS_FOR_ITS_OWN:
        return
    handler = syntax.swallows_errors(loop.node)
    flag = handler is None and sleeping and not _waits_for_outside(loop)
    if (handler is None and not sleeping) or (flag and not _waits_for_others(loop)):
        return
    if _waits_for_removal(loop, stall, descriptors):
        return
    facts = [Fact(f"it was inside the loop at line {loop.line} in every look", "its Python stack")]
    if handler is not None:
        facts.append(Fact(f"line {handler.lineno} catches the error, and the loop goes on", "the source"))
    facts.append(Fact("the loop counts no tries and looks at no clock", "the source"))
    if flag:
        facts.append(
            Fact("the loop itself changes nothing that could end it, and nobody else is at work", "the source")
        )
    for one in descriptors.checked_by(stall.wait.tid):
        if not one.exists:
            facts.append(Fact(f"{one.path} does not exist", "the file system"))
    yield cause.finding(
        Confidence.LIKELY if stall.very_long else Confidence.POSSIBLE,
        title=f"{stall.role} retries without a limit in {loop.frame.function}",
        where=stall.where(stall.at(loop.frame, loop.line)),
        because=facts,
    )


def _names(loop: ActiveLoop) -> set[str]:
    guards = [guard for way in loop.exits for guard in way.guards]
    return {syntax.called_name(one) for guard in guards for one in ast.walk(guard) if isinstance(one, ast.Call)}


def _waits_for_outside(loop: ActiveLoop) -> bool:
    """A way out depends on a call: a file, a server, another program."""
    return any(syntax.is_opaque(guard) for way in loop.exits for guard in way.guards)


def _waits_for_others(loop: ActiveLoop) -> bool:
    """Its ways out look at variables or attributes that the loop does not change: a flag that somebody else sets."""
    looked_at = {text for way in loop.exits for guard in way.guards for text in syntax.operands(guard)}
    return bool(looked_at) and not looked_at & syntax.stored(loop.node)


def _waits_for_removal(loop: ActiveLoop, stall: Stall, descriptors: Descriptors) -> bool:
    """The loop waits for a file to go away: a stale lock file, which is a cause of its own."""
    if any(one.exists and one.wanted == "gone" for one in descriptors.checked_by(stall.wait.tid)):
        return True
    names = {syntax.called_name(one) for one in syntax.calls(loop.node)} | _names(loop)
    exclusive = "O_EXCL" in ast.unparse(loop.node) or bool(names & _MUST_BE_NEW)
    return any(one.exists for one in descriptors.checked_by(stall.wait.tid)) and (
        exclusive or bool(names & _MUST_VANISH)
    )


@cause.detector
def in_source(source: SourceFile) -> Iterator[Finding]:
    """A `while True:` around a try that runs for a sample, and goes on after every error without counting."""
    for function in sample_functions(source.tree) if source.mentions(*DATASET_WORDS) else ():
        for loop, handler in retry_loops(function.node):
            yield cause.finding(
                Confidence.LIKELY,
                title="if this keeps failing, it is retried for ever",
                where=(Location(source.path, loop.lineno, function.name),),
                because=(
                    Fact(f"line {handler.lineno} catches the error, and the loop goes on", "the source"),
                    Fact("the loop counts no tries and looks at no clock", "the source"),
                ),
            )
