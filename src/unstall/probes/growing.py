"""Finds the line of the user's code that makes a variable or a container grow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unstall.evidence import syntax
from unstall.model.finding import Location

_ADDS = {"append", "appendleft", "extend", "add", "update", "insert", "setdefault"}
_WITH_ITSELF, _ADDED, _SET = range(3)  # the surest sign first


def place_of(names: list[Any], pid: int) -> Location | None:
    """The line that adds to one of these names. Each: name, file, and the function, or 0 for an attribute of a class."""
    found = []
    files = {str(file) for _, file, *_ in names if file}
    for name, file, first, function in names:
        for one in [str(file)] if file else files:
            found += [(rank, place) for rank, place in _lines(str(name), one, int(first), str(function), pid)]
    return min(found, key=lambda one: one[0])[1] if found else None


def _lines(name: str, file: str, first: int, function: str, pid: int) -> Iterator[tuple[int, Location]]:
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for scope in ast.walk(tree):
        is_function = isinstance(scope, ast.FunctionDef)
        if first and function != "<module>" and not (is_function and syntax.begins_at(scope, first)):  # type: ignore[arg-type]
            continue
        if not (is_function or isinstance(scope, ast.Module)):
            continue
        for node in syntax.walk(scope):
            rank = _adds(node, name)
            if rank is not None:
                where = function or getattr(scope, "name", "<module>")
                yield rank, Location(file, node.lineno, where, pid, "main")  # type: ignore[attr-defined]


def _adds(node: ast.AST, name: str) -> int | None:
    """Whether a statement or a call adds to what has that name."""
    if isinstance(node, ast.AugAssign) and _is(node.target, name):
        return _WITH_ITSELF
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS:
        return _ADDED if _is(node.func.value, name) else None
    if isinstance(node, ast.Assign):
        targets = [part for one in node.targets for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
        if any(isinstance(one, ast.Subscript) and _is(one.value, name) for one in targets):
            return _ADDED
        if any(_is(one, name) for one in targets):
            return _WITH_ITSELF if any(_is(one, name) for one in ast.walk(node.value)) else _set(node)
    return None


def _set(node: ast.Assign) -> int | None:
    """A name that is given the value of another one, as in `hidden = new`: not a start value."""
    return None if isinstance(node.value, ast.Constant | ast.List | ast.Dict) else _SET


def _is(node: ast.AST, name: str) -> bool:
    """A variable, an attribute or an item of that name."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == name
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
