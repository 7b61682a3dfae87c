"""The functions of a source file that run for every sample: a dataset's own, and those that they call."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from unstall.evidence import syntax

_MAP_STYLE = ("__getitem__", "__getitems__")
_STREAMS = ("__iter__", "__next__")
_DATASETS = ("Dataset", "IterDataPipe", "MapDataPipe")
DATASET_WORDS = ("Dataset", "DataPipe", "collate_fn")  # a file without any of these has no such functions
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SampleFunction:
    """A function that runs for every sample; `streams` where a stream of samples is what calls it."""

    node: Definition
    owner: ast.ClassDef | None
    streams: bool

    @property
    def name(self) -> str:
        """Its name, with its class."""
        return f"{self.owner.name}.{self.node.name}" if self.owner else self.node.name


@functools.lru_cache(maxsize=8)
def sample_functions(tree: ast.AST) -> tuple[SampleFunction, ...]:
    """The functions that a DataLoader runs for its samples, and those of the same file that they call."""
    found: dict[ast.AST, SampleFunction] = {}
    pending = list(_entries(tree))
    while pending:
        one = pending.pop()
        if one.node not in found:
            found[one.node] = one
            pending.extend(_called(tree, one))
    return tuple(sorted(found.values(), key=lambda one: one.node.lineno))


def _entries(tree: ast.AST) -> Iterator[SampleFunction]:
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for owner in classes.values():
        if not _is_dataset(owner, classes):
            continue
        for node in owner.body:
            if isinstance(node, Definition) and node.name in (*_MAP_STYLE, *_STREAMS):
                yield SampleFunction(node, owner, node.name in _STREAMS)
    for keyword in ast.walk(tree):
        if isinstance(keyword, ast.keyword) and keyword.arg == "collate_fn" and isinstance(keyword.value, ast.Name):
            for function in _top_level(tree, keyword.value.id):
                yield SampleFunction(function, None, False)


def _is_dataset(owner: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 5) -> bool:
    for base in owner.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        name = plain.attr if isinstance(plain, ast.Attribute) else plain.id if isinstance(plain, ast.Name) else ""
        inner = classes.get(name)
        if inner is not None and inner is not owner:
            if depth and _is_dataset(inner, classes, depth - 1):
                return True
        elif name.endswith(_DATASETS):
            return True
    return False


def _top_level(tree: ast.AST, name: str) -> list[Definition]:
    body = tree.body if isinstance(tree, ast.Module) else []
    return [node for node in body if isinstance(node, Definition) and node.name == name]


def _called(tree: ast.AST, caller: SampleFunction) -> Iterator[SampleFunction]:
    """What a function calls: functions of the file, methods of its class, and methods that only one class has."""
    for call in syntax.calls(caller.node):
        if isinstance(call.func, ast.Name):
            for node in _top_level(tree, call.func.id):
                yield SampleFunction(node, None, caller.streams)
        elif isinstance(call.func, ast.Attribute):
            own = isinstance(call.func.value, ast.Name) and call.func.value.id == "self"
            methods = _methods(tree).get(call.func.attr, [])
            mine = [one for one in methods if one[0] is caller.owner] if own else []
            for owner, node in mine or (methods if len(methods) == 1 and _is_own_object(call.func.value) else []):
                yield SampleFunction(node, owner, caller.streams)


def _is_own_object(node: ast.expr) -> bool:
    """`self.client`: an object that the class was given or has made, and not a module."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


@functools.lru_cache(maxsize=8)
def _methods(tree: ast.AST) -> dict[str, list[tuple[ast.ClassDef, Definition]]]:
    found: dict[str, list[tuple[ast.ClassDef, Definition]]] = {}
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef):
            for node in owner.body:
                if isinstance(node, Definition):
                    found.setdefault(node.name, []).append((owner, node))
    return found
