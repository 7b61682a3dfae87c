"""One call into C code computes without end.

## What happens
A single call never comes back: a power of huge numbers, `sum` or `list` over an iterator that never ends, a loop
inside a C extension. Python is not asked again until it ends; if it holds the GIL, no other thread of the process
runs and no signal handler either.

## How to recognise it
The thread uses a whole core and is at the same Python instruction in every look, for seconds. What it calls is not
Python code.

## Example
```python
total = sum(itertools.cycle(values))      # an endless iterator, consumed in C
```

## Use instead
Bound what you give to such a call (`itertools.islice`), and try it with small input first. Only SIGKILL ends a
process that is in such a call with the GIL held.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import loop_limits, syntax
from unstall.evidence.code import Code
from unstall.evidence.stacks import Frame
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="native-code-runs-forever",
    title="One call into C code does not end",
    remedies=(
        Remedy("Bound the input of this call", "an endless iterator, or numbers that are too large?"),
        Remedy("End it with SIGKILL", "while C code holds the GIL no other signal is served", "kill -9 PID"),
    ),
)
_LONG_BUT_FINITE = ("mkl_", "blas", "lapack", "gemm", "gemv", "dnnl", "fft", "getrf", "gesdd", "geev", "syev", "sgemm")
_ENOUGH_S = 4.0  # on the CPU: on a busy machine that takes longer
_CONSUMERS = {"sum", "list", "tuple", "set", "max", "min", "sorted", "deque", "dict", "extend", "array", "fromiter"}


@cause.detector
def from_stack(stall: Stall, code: Code) -> Iterator[Finding]:
    """A thread computes in one and the same Python instruction."""
    stack, frame = stall.stack, stall.frame
    if stack is None or frame is None or stall.wait.kind is not Kind.RUNNING:
        return
    if stack.moved or not stall.same_sample:
        return
    if stack.samples < 4 or stack.frames[0].file.endswith(("/re/__init__.py", "/re.py")):
        return
    native = stall.thread.native if stall.thread else ()
    if any("sre_" in one or "_sre" in one for one in native[:6]):
        return
    facts = [
        stall.fact(f"{stall.role} {stall.doing}"),
        Fact(f"it was at the same Python instruction in all {stack.samples} looks", "its Python stack"),
    ]
    endless = _consumes_endless(frame, code)
    if endless:
        facts.append(Fact(f"line {frame.line} consumes `{endless}`, which never ends", "the source"))
    if native:
        facts.append(Fact(f"its native code is {native[0][:80]}", "native stack"))
    sure = bool(endless) or (_has_had_enough(stall) and not _is_finite(native))
    ends = "does not end" if sure else "has not ended yet"
    yield cause.finding(
        Confidence.LIKELY if sure else Confidence.POSSIBLE,
        title=f"{stall.role} is in one call at line {frame.line} of {frame.function} that {ends}",
        where=stall.where(),
        because=facts,
        remedies=cause.remedies if sure else cause.remedies[:1],
    )


def _has_had_enough(stall: Stall) -> bool:
    computed = stall.thread.cpu_share * stall.watched_s if stall.thread else 0.0
    return stall.very_long and stall.place != "main" and computed >= _ENOUGH_S


def _is_finite(native: tuple[str, ...]) -> bool:
    """Linear algebra may take minutes, and ends: it goes over what is in memory."""
    return any(word in one.lower() for one in native[:8] for word in _LONG_BUT_FINITE)


def _consumes_endless(frame: Frame, code: Code) -> str:
    """An iterator of itertools without an end that a call on this line is given."""
    tree = code.tree(frame)
    for call in syntax.calls_on_line(tree, frame.line) if tree else ():
        for given in call.args:
            local = frame.local(given.id) if isinstance(given, ast.Name) else None
            if loop_limits.is_endless_iterable(given) and syntax.called_name(call) in _CONSUMERS:
                return ast.unparse(given)
            if local is not None and local.type in ("itertools.cycle", "itertools.count"):
                return ast.unparse(given)
    return ""
