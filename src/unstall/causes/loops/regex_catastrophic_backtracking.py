"""A regular expression tries an astronomic number of ways to match.

## What happens
A pattern with nested repetition, like `(a+)+$` or `(\\s*\\w+)*;`, can match a text in exponentially many ways. On a
text that almost matches, `re` tries them all. It is one call into C that holds the GIL: no signal handler and no
other thread of the process runs meanwhile.

## How to recognise it
The thread computes inside one call of `re`, at the same instruction in every look.

## Example
```python
re.match(r"(\\w+\\s?)*$", "word " * 30 + "!")
```

## Use instead
Write the repetition so that each character can match in one way only (`(\\w+\\s)*\\w*$`), use possessive or atomic
groups (`(?>...)`, from Python 3.11), limit the text's length first, or use the package `regex` with `timeout=`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import ambiguity, syntax
from unstall.evidence.code import Code
from unstall.evidence.stacks import Frame
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="regex-catastrophic-backtracking",
    title="A regular expression backtracks without end",
    remedies=(
        Remedy(
            "Make each repetition match in one way only", "for instance (?>\\w+\\s?)* : an atomic group, Python 3.11"
        ),
        Remedy("Limit the text before matching", "", "pattern.match(text[:10_000])"),
        Remedy(
            "Or use the package `regex`", "its matching takes a time limit", "regex.match(pattern, text, timeout=1)"
        ),
    ),
)
_METHODS = {"match", "fullmatch", "search", "sub", "subn", "findall", "split", "finditer"}
_ENOUGH_S = 1.2  # on the CPU: on a busy machine that takes longer
_MODULES = ("/re/__init__.py", "/re.py")


@cause.detector
def from_stack(stall: Stall, code: Code) -> Iterator[Finding]:
    """A thread computes in one and the same call of the re module."""
    stack, frame = stall.stack, stall.frame
    if stack is None or frame is None or stall.wait.kind is not Kind.RUNNING or stack.moved or not stall.same_sample:
        return
    in_module = stack.frames[0].file.endswith(_MODULES)
    in_native = bool(stall.thread and any("sre_" in one or "_sre" in one for one in stall.thread.native[:6]))
    if not (in_module or in_native or (stack.frames[0] is frame and _matches_on_line(frame, code))):
        return
    facts = [stall.fact(f"{stall.role} {stall.doing}")]
    facts.append(Fact(f"it was in the same call of `re` in all {stack.samples} looks", "its Python stack"))
    if stack.pattern in (ambiguity.AMBIGUOUS, ambiguity.SHORT):
        facts.append(Fact("a loop of its pattern can match the same text in many ways", "the pattern"))
    if in_native and stall.thread:
        facts.append(Fact(f"its native code is {stall.thread.native[0]}", "native stack"))
    confidence = _confidence(stall, stack.pattern)
    ends = "does not end" if confidence is not Confidence.POSSIBLE else "has not ended yet"
    yield cause.finding(
        confidence,
        title=f"{stall.role} is in one regular expression match that {ends}",
        where=stall.where(),
        because=facts,
    )


def _confidence(stall: Stall, pattern: str) -> Confidence:
    """A pattern without ambiguity may just be slow on a long text."""
    if pattern == ambiguity.AMBIGUOUS and (stall.long or (stall.thread and stall.thread.computed_s > _ENOUGH_S)):
        return Confidence.LIKELY
    endless = stall.very_long and pattern not in (ambiguity.BOUNDED, ambiguity.SHORT)
    return Confidence.LIKELY if endless else Confidence.POSSIBLE


def _matches_on_line(frame: Frame, code: Code) -> bool:
    """The line calls a method of a compiled pattern."""
    tree = code.tree(frame)
    for call in syntax.calls_on_line(tree, frame.line) if tree else ():
        if syntax.called_name(call) in _METHODS and isinstance(call.func, ast.Attribute):
            kinds = frame.watched.get(f"type({ast.unparse(call.func.value)})", ())
            if "re.Pattern" in kinds:
                return True
    return False
