"""What the samples of a batch have in common, and which one differs."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from unstall.evidence import syntax
from unstall.evidence.code import Code, Function
from unstall.evidence.endings import Said, Variant
from unstall.evidence.unpicklable import result_lines
from unstall.model.finding import Location

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break


_STACKING = re.compile(
    r"stack expects each tensor to be equal size|Trying to resize storage that is not resizable"
    r"|each element in list of batch should be of equal size|Sizes of tensors must match"
    r"|all input arrays must have the same shape|inhomogeneous shape|expected sequence of length"
    r"|could not broadcast input array|must match the size|must match the existing size|same number of dimensions"
    r"|all the input array dimensions"
)
_DEFAULT_COLLATE = "torch/utils/data/_utils/collate.py"


def cannot_stack(said: Said) -> bool:
    """The error says that shapes, lengths or (in torch's own collate) keys do not fit together."""
    keys_differ = said.type == "KeyError" and said.passes(_DEFAULT_COLLATE)
    return keys_differ or bool(_STACKING.search(said.texts))


def missing(batch: Iterable[Variant]) -> tuple[Variant, ...]:
    """The samples that are None, or hold None."""
    return tuple(one for one in batch if "None" in one.parts.values())


def differing_part(batch: tuple[Variant, ...]) -> str | None:
    """The part of the samples whose shape, length or keys are not the same in all of them; the innermost one first."""
    if len(batch) < 2:
        return None
    shared = [path for path in batch[0].parts if all(path in one.parts for one in batch)]
    differing = [path for path in shared if len({one.parts[path] for one in batch}) > 1]
    sized = [path for path in differing if all(_has_size(one.parts[path]) for one in batch)]
    return max(sized, key=lambda path: path.count("["), default=None)


def _has_size(part: str) -> bool:
    return part.endswith((")", "]")) or " of " in part


def odd_sample(batch: tuple[Variant, ...], part: str) -> int | str | None:
    """The first sample that differs from most others in that part; None where there is no majority."""
    counts: dict[str, int] = {}
    for one in batch:
        counts[one.parts[part]] = counts.get(one.parts[part], 0) + one.count
    usual = max(counts, key=lambda text: counts[text])
    total = sum(counts.values())
    if counts[usual] * 2 <= total and len(counts) > 1:
        return None
    return next((one.indices[0] for one in batch if one.parts[part] != usual and one.indices), None)


def made_at(said: Said, code: Code) -> tuple[Location, ...]:
    """The lines of the dataset that hand a sample over."""
    return tuple(_places(said, code, (result_lines,)))


def made_none_at(said: Said, code: Code) -> tuple[Location, ...]:
    """The lines of the dataset that may yield None; else those that hand a sample over."""
    return tuple(dict.fromkeys(_places(said, code, (_none_lines, _falls_through, result_lines))))


def _places(said: Said, code: Code, rules: Iterable[Callable[[ast.AST], list[int]]]) -> Iterator[Location]:
    collate = [one for one in said.makers if not one.function.startswith(("__getitem", "__iter"))]
    makers = [one for one in said.makers if one not in collate]
    own = [
        one
        for maker in makers
        for one in code.all
        if (one.file, one.name) == (maker.file, maker.function) and one.first_line == maker.line
    ]
    called = [two for one in own for two in _called(one, code) if two not in own]
    for rule in rules:
        for function in (*own, *called):
            for line in rule(function.tree):
                yield Location(function.file, line, function.name, said.pid, said.role)


def _called(function: Function, code: Code) -> list[Function]:
    names = {syntax.called_name(one) for one in syntax.calls(syntax.body_of(function.tree))}
    return [one for one in code.all if one.file == function.file and one.name in names]


def _none_lines(tree: ast.AST) -> list[int]:
    """Lines that return None, or something with None in it."""
    body = syntax.body_of(tree)
    generates = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(body))
    found = []
    for one in syntax.walk(body):
        if (isinstance(one, ast.Return) and one.value is None and not generates) or (
            isinstance(one, ast.Return | ast.Yield) and one.value is not None and _holds_none(one.value)
        ):
            found.append(one.lineno)
    return found


def _holds_none(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.Tuple | ast.List):
        return any(map(_holds_none, value.elts))
    if isinstance(value, ast.Dict):
        return any(map(_holds_none, value.values))
    if isinstance(value, ast.IfExp):
        return _holds_none(value.body) or _holds_none(value.orelse)
    return False


def _falls_through(tree: ast.AST) -> list[int]:
    """Lines after which a function ends without a `return`: in a handler of errors, or at its end."""
    body = syntax.body_of(tree)
    function = next((one for one in ast.walk(body) if isinstance(one, _DEFINITIONS)), None)
    if function is None or any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(function)):
        return []
    return _open_ends(function.body)


def _open_ends(statements: list[ast.stmt]) -> list[int]:
    last = statements[-1]
    if isinstance(last, _LEAVES) or (isinstance(last, ast.While) and isinstance(last.test, ast.Constant)):
        return []
    if isinstance(last, ast.Try):
        ways = [last.orelse or last.body, *(one.body for one in last.handlers)]
        return [line for way in ways for line in _open_ends(way)]
    if isinstance(last, ast.With | ast.AsyncWith):
        return _open_ends(last.body)
    if isinstance(last, ast.If) and last.orelse:
        return [*_open_ends(last.body), *_open_ends(last.orelse)]
    return [last.lineno]
