"""Finds the line of the user's code that makes a variable or a container grow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unstall.evidence import syntax
from unstall.model.finding import Location

_ADDS = {"append", "appendleft", "extend", "add", "update", "insert", "setdefault"}
_TAKES = {"pop", "popitem", "popleft", "clear", "remove"}
_WITH_ITSELF, _ADDED, _SET = range(3)  # the surest sign first


def place_of(names: list[Any], pid: int) -> Location | None:
    """The line that adds to one of these names. Each: name, file, and the function, or 0 for an attribute of a class."""
    found = []
    files = {str(file) for _, file, *_ in names if file}
    for name, file, first, function in names:
        for one in [str(file)] if file else files:
            found += [(rank, place) for rank, place in _lines(str(name), one, int(first), str(function), pid)]
    return min(found, key=lambda one: one[0])[1] if found else None


def made_at(names: list[Any], pid: int) -> Location | None:
    """The line that makes a container of one of these names."""
    for name, file, *_ in names:
        for scope in ast.walk(_parsed(str(file))):
            if not isinstance(scope, ast.FunctionDef | ast.Module):
                continue
            for node in syntax.walk(scope):
                if isinstance(node, ast.Assign) and any(_is(one, str(name)) for one in node.targets):
                    return Location(str(file), node.lineno, getattr(scope, "name", "<module>"), pid, "main")
    return None


def is_bounded(names: list[Any]) -> bool:
    """Whether the source takes things out of a container again, or looks at its length."""
    for name, file, *_ in names:
        for node in ast.walk(_parsed(str(file))):
            if isinstance(node, ast.Delete):
                if any(isinstance(one, ast.Subscript) and _is(one.value, str(name)) for one in node.targets):
                    return True
            elif isinstance(node, ast.Call):
                function = node.func
                if isinstance(function, ast.Attribute) and function.attr in _TAKES and _is(function.value, str(name)):
                    return True
                if syntax.called_name(node) == "len" and node.args and _is(node.args[0], str(name)):
                    return True
    return False


def _parsed(file: str) -> ast.AST:
    try:
        return ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _lines(name: str, file: str, first: int, function: str, pid: int) -> Iterator[tuple[int, Location]]:
    for scope in ast.walk(_parsed(file)):
        is_function = isinstance(scope, ast.FunctionDef)
        if first and function != "<module>" and not (is_function and syntax.begins_at(scope, first)):  # type: ignore[arg-type]
            continue
        if not (is_function or isinstance(scope, ast.Module)):
            continue
        for node in syntax.walk(scope):
            rank = _adds(node, name)
            if rank is not None and not (rank == _SET and getattr(scope, "name", "") == "__init__"):  # a start value
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
