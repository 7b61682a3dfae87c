"""Which sample a `__getitems__` is at: the variable that goes over the indices it was given."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from unstall.evidence.loaders import Sample
from unstall.probes.code import read_source
from unstall.probes.samples import SampledFrame, SampledStack


def of_many(stack: SampledStack, fetch: SampledFrame, indices: tuple[Sample, ...]) -> Sample | None:
    """The sample that the dataset's `__getitems__` is at; None where that is not plain to see."""
    place = stack.frames.index(fetch)
    inner = stack.frames[:place][::-1]  # outermost first
    if not inner or inner[0].bare_name != "__getitems__":
        return None
    within = inner[:2] if len(inner) > 1 and inner[1].bare_name == "<listcomp>" else inner[:1]
    for frame in reversed(within):
        for name in _loop_variables(stack.pid, inner[0].file, inner[0].first_line, frame.line):
            value = frame.value(name)
            if isinstance(value, int | str) and not isinstance(value, bool) and value in indices:
                return value
    return None


@functools.lru_cache(maxsize=64)
def _loop_variables(pid: int, file: str, first_line: int, line: int) -> tuple[str, ...]:
    """The variables of the loops around a line that go over the function's parameter."""
    try:
        tree = ast.parse(read_source(pid, file) or "")
    except (SyntaxError, ValueError, RecursionError):
        return ()
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef) and one.name == "__getitems__" and _start(one) == first_line:
            return tuple(_going_over(one, one.args.args[-1].arg, line)) if one.args.args else ()
    return ()


def _start(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


def _going_over(function: ast.FunctionDef, given: str, line: int) -> Iterator[str]:
    for one in ast.walk(function):
        if isinstance(one, ast.For | ast.comprehension) and _begins(one) <= line:
            target, over = one.target, one.iter
            if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "enumerate":
                over = over.args[0] if over.args else over
                target = target.elts[-1] if isinstance(target, ast.Tuple) else target
            if isinstance(target, ast.Name) and isinstance(over, ast.Name) and over.id == given:
                yield target.id


def _begins(loop: ast.For | ast.comprehension) -> int:
    return loop.lineno if isinstance(loop, ast.For) else 0
