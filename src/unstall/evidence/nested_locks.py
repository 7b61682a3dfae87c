"""Where a source file takes a lock while it has it already: in nested blocks, or through a function that it calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from unstall.evidence import syntax
from unstall.evidence.imports import Imports

_PLAIN_LOCKS = {"threading.Lock", "multiprocessing.Lock", "torch.multiprocessing.Lock", "_thread.allocate_lock"}
_DEPTH = 5


@dataclass(frozen=True)
class NestedLock:
    """A lock that is taken in `inner` while `outer` has it. Both are lines; `by` is the function of the inner one."""

    lock: str
    outer: int
    inner: int
    by: str


@dataclass(frozen=True)
class _Scope:
    """A class, or the module: its locks, and the functions that take them."""

    name: str
    locks: frozenset[str]
    functions: dict[str, ast.FunctionDef]
    in_class: bool

    def called(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of this scope that a call surely calls."""
        if isinstance(call.func, ast.Name):
            return None if self.in_class else self.functions.get(call.func.id)
        if not self.in_class or not isinstance(call.func, ast.Attribute):
            return None
        mine = isinstance(call.func.value, ast.Name) and call.func.value.id == "self"
        return self.functions.get(call.func.attr) if mine else None


def nested_locks(tree: ast.AST) -> list[NestedLock]:
    """Every place where a plain lock is surely taken twice."""
    found: dict[NestedLock, None] = {}
    for scope in _scopes(tree):
        for function in scope.functions.values():
            found.update(dict.fromkeys(_visit(scope, function, function.body, {})))
    return list(found)


def _scopes(tree: ast.AST) -> Iterator[_Scope]:
    imports = Imports(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.Module):
            functions = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
            in_class = isinstance(node, ast.ClassDef)
            locks = _locks(node, imports, in_class=in_class)
            if locks:
                yield _Scope(getattr(node, "name", ""), locks, functions, in_class)


def _locks(scope: ast.ClassDef | ast.Module, imports: Imports, *, in_class: bool) -> frozenset[str]:
    """The names that are given a plain lock, and nothing else."""
    kinds: dict[str, set[bool]] = {}
    assigned = [node for node in (ast.walk(scope) if in_class else scope.body) if isinstance(node, ast.Assign)]
    for node in assigned:
        plain = imports.called(node.value) in _PLAIN_LOCKS
        for target in node.targets:
            name = ast.unparse(target)
            if in_class and isinstance(target, ast.Name) and node in scope.body:
                name = f"self.{name}"
            kinds.setdefault(name, set()).add(plain)
    wanted = "self." if in_class else ""
    return frozenset(name for name, seen in kinds.items() if seen == {True} and name.startswith(wanted))


def _visit(
    scope: _Scope, function: ast.FunctionDef, body: list[ast.stmt], held: dict[str, int]
) -> Iterator[NestedLock]:
    """Walk through statements, and keep in mind which locks are held: name → the line where it was taken."""
    held = dict(held)
    for node in body:
        taken = _taken_by(scope, node)
        for lock in taken:
            if lock in held:
                yield NestedLock(lock, held[lock], node.lineno, _title(scope, function))
        inside = {**held, **dict.fromkeys(taken, node.lineno)}
        if isinstance(node, ast.With):
            yield from _visit(scope, function, node.body, inside)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        elif parts := _parts(node):
            for part in parts:
                yield from _visit(scope, function, part, held)
        else:
            yield from _through_calls(scope, node, held)
            held = inside
        for lock in _released(node):
            held.pop(lock, None)


def _through_calls(scope: _Scope, node: ast.stmt, held: dict[str, int]) -> Iterator[NestedLock]:
    if not held or isinstance(node, ast.AsyncWith):
        return
    for call in syntax.calls(node):
        called = scope.called(call)
        for lock, line, name in _takes(scope, called, _DEPTH) if called else ():
            if lock in held:
                yield NestedLock(lock, held[lock], line, name)


def _takes(scope: _Scope, function: ast.FunctionDef, depth: int) -> Iterator[tuple[str, int, str]]:
    """The locks that a function takes whenever it is called: nothing under an `if`, nothing after a look at a lock."""
    if depth == 0 or any(
        syntax.called_name(one) in ("locked", "release", "_is_owned") for one in syntax.calls(function)
    ):
        return
    if any(syntax.yields(node) for node in function.body) or function.decorator_list:
        return
    for node in _always(function.body):
        for lock in _taken_by(scope, node):
            yield lock, node.lineno, _title(scope, function)
        if not _parts(node) and not isinstance(node, ast.With):
            for call in syntax.calls(node):
                called = scope.called(call)
                if called is not None and called is not function:
                    yield from _takes(scope, called, depth - 1)


def _always(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Match):
            continue
        yield node
        if isinstance(node, ast.With | ast.Try):
            yield from _always(node.body)


def _taken_by(scope: _Scope, node: ast.stmt) -> list[str]:
    """The locks that a statement itself takes, without a time limit."""
    if isinstance(node, ast.With):
        texts = [ast.unparse(item.context_expr) for item in node.items]
        return [text for text in texts if text in scope.locks]
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and not node.value.args
        and not node.value.keywords
    ):
        call = node.value
        if isinstance(call.func, ast.Attribute) and call.func.attr == "acquire":
            text = ast.unparse(call.func.value)
            return [text] if text in scope.locks else []
    return []


def _parts(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement."""
    if isinstance(node, ast.If | ast.For | ast.While | ast.AsyncFor):
        return [node.body, node.orelse]
    if isinstance(node, ast.Try):
        return [node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody]
    if isinstance(node, ast.AsyncWith):
        return [node.body]
    return [case.body for case in node.cases] if isinstance(node, ast.Match) else []


def _released(node: ast.stmt) -> list[str]:
    return [
        ast.unparse(call.func.value)
        for call in syntax.calls(node)
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("release", "__exit__")
    ]


def _title(scope: _Scope, function: ast.FunctionDef) -> str:
    return f"{scope.name}.{function.name}" if scope.in_class else function.name
