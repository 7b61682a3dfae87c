"""Where code puts something into its result that can't be pickled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax

_MADE_BY = {
    "open", "Lock", "RLock", "Condition", "Event", "Semaphore", "Thread", "Popen", "socket", "connect", "memoryview",
    "local", "File", "VideoCapture", "Queue", "Pipe", "scandir", "mmap", "ZipFile", "finditer", "ThreadPoolExecutor",
    "ProcessPoolExecutor",
}  # fmt: skip
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_KEEPS_FUNCTIONS = {"partial", "defaultdict", "append", "add", "setdefault"}


def unpicklable_lines(function: ast.AST) -> list[int]:
    """Lines that keep a lambda, an inner function, a generator, an open file or a lock, not used up at once."""
    body = syntax.body_of(function)
    inner = {one.name for one in ast.walk(body) if isinstance(one, _DEFINITIONS) and one is not body}
    released = {id(item.context_expr) for one in syntax.walk(body) if isinstance(one, ast.With) for item in one.items}
    found: list[tuple[bool, int]] = []
    for statement in syntax.walk(body):
        if isinstance(statement, ast.Return | ast.Yield | ast.Assign | ast.AugAssign | ast.Expr | ast.AnnAssign):
            value = statement.value
            for node in _kept(value, inner) if value is not None and not _only_renames(statement) else ():
                if id(node) not in released:
                    found.append((not isinstance(statement, ast.Return | ast.Yield), node.lineno))
    return [line for _, line in sorted(found)]


def _only_renames(statement: ast.stmt | ast.expr) -> bool:
    """`f = g`: where it goes from there is another line."""
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Name)
        and all(isinstance(one, ast.Name) for one in statement.targets)
    )


def _kept(node: ast.expr, inner: set[str]) -> Iterator[ast.expr]:
    """The parts of a value that can't be pickled. What is handed to an ordinary function is used up there."""
    if isinstance(node, ast.Lambda | ast.GeneratorExp) or (isinstance(node, ast.Name) and node.id in inner):
        yield node
    elif isinstance(node, ast.Call):
        name = syntax.called_name(node)
        if name in _MADE_BY:
            yield node
        elif name in _KEEPS_FUNCTIONS or name[:1].isupper():
            for argument in (*node.args, *(one.value for one in node.keywords)):
                yield from _kept(argument, inner)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _kept(value, inner)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for value in node.elts:
            yield from _kept(value, inner)
    elif isinstance(node, ast.IfExp):
        yield from _kept(node.body, inner)
        yield from _kept(node.orelse, inner)
    elif isinstance(node, ast.ListComp | ast.SetComp):
        yield from _kept(node.elt, inner)
    elif isinstance(node, ast.DictComp):
        yield from _kept(node.value, inner)


def result_lines(function: ast.AST) -> list[int]:
    """The lines that hand a result over."""
    found = [one for one in syntax.walk(syntax.body_of(function)) if isinstance(one, ast.Return | ast.Yield)]
    return [one.lineno for one in found if one.value is not None]
