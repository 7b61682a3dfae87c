"""Functions of the user's other modules that a function calls by an imported name."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

from unstall.evidence.code import Code, Function, functions_in
from unstall.evidence.stacks import Frame
from unstall.probes import procfs
from unstall.probes.code import read_source

_MOST_FILES = 12


def with_imported(known: Code, frames: Iterable[tuple[int, Frame]]) -> Code:
    """The functions on the stacks, with those of the user's other modules that they call."""
    found: list[Function] = []
    for pid, file in dict.fromkeys((pid, frame.file) for pid, frame in frames):
        source = read_source(pid, file)
        if source is not None:
            found += _imported(pid, file, source, [one for one in known.all if one.file == file])
    return Code(tuple(dict.fromkeys((*known.all, *found))))


def _imported(pid: int, file: str, source: str, callers: Iterable[Function]) -> list[Function]:
    """The functions that `callers`, all of one file, call by names which that file imports."""
    modules = dict(imports(pid, file, source))
    wanted: dict[str, set[str]] = {}
    for caller in callers:
        for call in (one for one in ast.walk(caller.tree) if isinstance(one, ast.Call)):
            base, name = _called(call.func)
            if base in modules:
                wanted.setdefault(modules[base], set()).add(name)
    found: list[Function] = []
    for path, names in list(wanted.items())[:_MOST_FILES]:
        text = read_source(pid, path)
        found += functions_in(path, text, set(_places(text, names))) if text else []
    return found


def _called(function: ast.expr) -> tuple[str, str]:
    """The imported name that a call begins with, and the function's own name."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    while isinstance(function, ast.Attribute | ast.Call):
        function = function.value if isinstance(function, ast.Attribute) else function.func
    return getattr(function, "id", ""), name


def imports(pid: int, file: str, source: str) -> Iterator[tuple[str, str]]:
    """The names that a file imports from the user's own modules, with the file of each."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                path = _module(pid, file, one.name, 0)
                if path:
                    yield one.asname or one.name.split(".")[0], path
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                inner = f"{node.module}.{one.name}" if node.module else one.name
                path = _module(pid, file, inner, node.level) or _module(pid, file, node.module or "", node.level)
                if path:
                    yield one.asname or one.name, path


def _module(pid: int, file: str, name: str, level: int) -> str:
    """The file of a module beside this file, or below the working directory; "" where there is none."""
    if not name:
        return ""
    here = os.path.dirname(file)
    for _ in range(level - 1):
        here = os.path.dirname(here)
    above = [here]
    while len(above) <= name.count(".") + 1:
        above.append(os.path.dirname(above[-1]))
    roots = [here] if level else [*above, procfs.link(f"/proc/{pid}/cwd") or here]
    for root in roots:
        path = os.path.join(root, *name.split(".")) + ".py"
        if path != file and os.path.isfile(f"/proc/{pid}/root{path}"):
            return path
    return ""


def _places(source: str, names: set[str]) -> Iterator[tuple[str, int]]:
    """Where functions of these names are."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            yield node.name, node.lineno
