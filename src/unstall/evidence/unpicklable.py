"""Where code puts something into its result that can't be pickled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax

_MADE_BY = {
    "open", "Lock", "RLock", "Condition", "Event", "Semaphore", "Thread", "Popen", "socket", "connect", "memoryview",
    "local", "File", "VideoCapture", "Queue", "Pipe", "scandir", "mmap",
}  # fmt: skip
_KEEPS_FUNCTIONS = {"partial", "defaultdict", "append", "add", "setdefault"}


def unpicklable_lines(function: ast.AST) -> list[int]:
    """Lines that make a lambda, a generator, an open file or a lock that is kept, not used up at once."""
    body = syntax.body_of(function)
    released = {id(item.context_expr) for one in syntax.walk(body) if isinstance(one, ast.With) for item in one.items}
    found: list[tuple[bool, int]] = []
    for statement in syntax.walk(body):
        if isinstance(statement, ast.Return | ast.Yield | ast.Assign | ast.AugAssign | ast.Expr | ast.AnnAssign):
            value = statement.value
            for node in _kept(value) if value is not None else ():
                if id(node) not in released:
                    found.append((not isinstance(statement, ast.Return | ast.Yield), node.lineno))
    return [line for _, line in sorted(found)]


def _kept(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of a value that can't be pickled. What is handed to an ordinary function is used up there."""
    if isinstance(node, ast.Lambda | ast.GeneratorExp):
        yield node
    elif isinstance(node, ast.Call):
        name = syntax.called_name(node)
        if name in _MADE_BY:
            yield node
        elif name in _KEEPS_FUNCTIONS or name[:1].isupper():
            for argument in (*node.args, *(one.value for one in node.keywords)):
                yield from _kept(argument)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _kept(value)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for value in node.elts:
            yield from _kept(value)
    elif isinstance(node, ast.IfExp):
        yield from _kept(node.body)
        yield from _kept(node.orelse)
    elif isinstance(node, ast.ListComp | ast.SetComp):
        yield from _kept(node.elt)
    elif isinstance(node, ast.DictComp):
        yield from _kept(node.value)


def result_lines(function: ast.AST) -> list[int]:
    """The lines that hand a result over."""
    found = [one for one in syntax.walk(syntax.body_of(function)) if isinstance(one, ast.Return | ast.Yield)]
    return [one.lineno for one in found if one.value is not None]
